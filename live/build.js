/** Elements as plain values, which a worker can send, and the elements made of them.
 *
 * A text becomes a text node and nothing else, so no text becomes markup.
 */

export const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "text", "tspan", "rect", "line", "polyline"]);

export function h(name, attributes = {}, ...children) {
  const shown = children.flat(Infinity).filter((each) => each !== null && each !== "");
  return { name, attributes, children: shown };
}

/** Make the elements of a document from what `h` made. */
export function build(document, node) {
  if (typeof node === "string") return document.createTextNode(node);
  const made = DRAWN.has(node.name)
    ? document.createElementNS(SVG, node.name) : document.createElement(node.name);
  for (const [key, value] of Object.entries(node.attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...node.children.map((each) => build(document, each)));
  return made;
}
