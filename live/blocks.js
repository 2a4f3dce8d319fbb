/** Blocks of which answers are drawn: lines of text, and pictures with their numbers. */

import { h, SVG } from "./build.js";
import { general, grouped, units } from "./numbers.js";

export const [WIDE, NARROW] = [760, 380];

export const shortened = (text, limit) => {
  const chars = Array.from(text);
  return chars.length <= limit ? text : `${chars.slice(0, limit - 1).join("")}…`;
};

/** Give every character without a shape a sign. */
export function visible(text) {
  return Array.from(text, (char) => {
    const code = char.codePointAt(0);
    if (char === "\n") return char;
    if (char === "\t") return "→";
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (!/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(char) || /[\u200c\u200d]/.test(char)) return char;
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  }).join("");
}

export const line = (...children) => h("p", { class: "bx-line" }, children);
export const quiet = (...children) => h("div", { class: "bx-line" }, children);
export const hint = (...children) => h("details", { class: "bx-hint" },
  h("summary", { "aria-label": "What does this mean?" }, "?"),
  h("div", {}, children, h("span", { class: "bx-hint-end" })));
export const note = (...children) => h("p", { class: "bx-note" }, children);
export const headline = (says) => h("p", { class: "bx-headline" }, says);
export const codes = (signs) => signs.flatMap((sign, n) =>
  [n ? ", " : "", h("code", {}, visible(sign))]);

// -- pictures -------------------------------------------------------------------------------------

export function picture(name, alt, draw, columns, rows, live = false) {
  const drawings = [["wide", WIDE], ["narrow", NARROW]].map(([size, width]) =>
    h("div", { class: `bx-${size}` }, draw(width)));
  return h("figure", { class: "bx-picture", "data-name": name },
    h("div", { role: live ? "group" : "img", "aria-label": visible(alt), class: "bx-drawing" }, drawings),
    numbers(name, columns, rows));
}

function numbers(name, columns, rows) {
  const buttons = ["svg", "png", "csv", "json"].map((kind) => h("button", { type: "button",
    class: "bx-save", "data-save": kind, "aria-label": `Save as ${kind.toUpperCase()}` },
    kind.toUpperCase()));
  const cell = (value) => {
    if (typeof value === "string") return h("td", {}, visible(value));
    if (value.whole !== undefined) {
      return h("td", { "data-value": value.whole }, grouped(value.whole));
    }
    return h("td", { "data-value": general(value, 8) }, general(value, 4));
  };
  const body = rows.map(({ at, cells }) => h("tr", { "data-at": at }, cells.map(cell)));
  return h("details", { class: "bx-twin", "data-name": name },
    h("summary", {}, "Numbers and files"), h("p", { class: "bx-files" }, "Save: ", buttons),
    h("table", { class: "bx-numbers", "data-name": name },
      h("thead", {}, h("tr", {}, columns.map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", {}, body)));
}

export const whole = (value) => ({ whole: value });
export const svg = (width, height, children) => h("svg", { viewBox: `0 0 ${width} ${height}`,
  class: "bx-svg", xmlns: SVG, "aria-hidden": "true" }, children);
export const rect = (x, y, width, height, look) => h("rect", { x: units(x), y: units(y),
  width: units(width), height: units(height), class: look });
export const label = (x, y, says, look) =>
  h("text", { x: units(x), y: units(y), class: look }, visible(says));
