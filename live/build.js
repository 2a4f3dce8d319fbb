/** Elements as plain values, which a worker can send, and the elements made of them.
 *
 * A text becomes a text node and nothing else, so no text becomes markup.
 */

export const SVG = "http://www.w3.org/2000/svg";

const TYPED = ["code", "textarea"]; // what is in them is left as it is

export function h(name, attributes = {}, ...children) {
  const shown = children.flat(Infinity).filter((each) => each !== null && each !== "").map((each) =>
    typeof each === "string" && !TYPED.includes(name) ? each.replace(/(\d) %/g, "$1\u00a0%") : each);
  return { name, attributes, children: shown };
}

/** Make the elements of a document from what `h` made. */
export function build(document, node, inside = false) {
  if (typeof node !== "object") return document.createTextNode(node);
  if (node.nodeType) return node;
  const drawn = inside || node.name === "svg";
  const made = drawn
    ? document.createElementNS(SVG, node.name) : document.createElement(node.name);
  for (const [key, value] of Object.entries(node.attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...node.children.map((each) => build(document, each, drawn)));
  return made;
}

/** Make an element whose children are elements, what `h` made, and texts. */
export const make = (name, attributes = {}, ...children) => build(document, { name, attributes, children });
