/** What a tab takes along from page to page: its visitor's texts, and that the model is kept.
 *
 * It stays in the tab (sessionStorage): nothing is sent, and nothing is in an address.
 */

const KEY = `bert-explorer ${new URL(".", import.meta.url).pathname}`; // a host may have several sites
const NEEDED = { next_sentence: ["text_pair"], multiple_choice: ["choices"] }; // besides the text
export const QUESTION = "What is this text about?"; // a question about any text

/**
 * Return what is taken along: `kept` (whether this browser has the weights), `texts` by the key of
 * their box, `whole` (the first text before a word of it was hidden), and `example` (the address of
 * the page that was opened for its example).
 */
export function carried() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // a browser that keeps nothing
  }
}

/** Take more along; what is undefined is forgotten. */
export function carry(more) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...carried(), ...more }));
  } catch {} // the next page begins with its example
}

/**
 * Return what the boxes of this page get, by key, or null if nothing fits; see `app.declared.carried`.
 * @param {DOMStringMap} page what is said of it: its task, and whether it reads gaps
 * @param {string[]} keys of the boxes
 */
export function textsFor({ live: task, gaps }, keys) {
  const { texts = {}, whole, example } = carried();
  const needed = ["text", ...NEEDED[task] ?? []];
  if (example === location.href || !needed.every((key) => texts[key]?.trim())) return null;
  const isPart = gaps !== undefined || (keys.includes("text_pair") && texts.text_pair);
  return { ...texts, text: isPart ? texts.text : whole || texts.text, question: texts.question || QUESTION };
}
