/** What attention looks like: heat map, lines, and every head, node by node as Python draws them. */

import { h, SVG } from "./build.js";
import { codes, count, general, headline, line, percent, picture, visible, whole } from "./draw.js";
import { grouped } from "./tasks.js";

const LETTER = 8.5; // width of a letter of 15 units
const SMALL = 64; // tokens a side that are drawn cell by cell
const ROWS = 200; // of a table
const LINE = 22;
const BUDGET = 4000; // lines
const GRID = 96 * 1024; // pixels of all small pictures
const STOPS = ["#ffffff", "#deebf7", "#9ecae1", "#4292c6", "#08519c", "#08306b"].map((stop) =>
  [1, 3, 5].map((at) => parseInt(stop.slice(at, at + 2), 16)));
const PAPER = Uint8Array.from({ length: 768 }, (_, n) => {
  const [stop, part] = [Math.floor(Math.floor(n / 3) / 51), (Math.floor(n / 3) % 51) / 51];
  const from = STOPS[stop][n % 3];
  return Math.round(from + part * ((STOPS[stop + 1]?.[n % 3] ?? from) - from));
});
const HEADS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a63d2",
  "#8f8f1f", "#a0522d", "#1b9aaa", "#b5396b", "#5a8f5a", "#c7a500", "#4b6fd4", "#9c6b9e", "#7a7a7a"];
const GOES = { previous: "to the previous piece", next: "to the next piece",
  itself: "to the piece itself", "same piece": "to the same piece elsewhere",
  punctuation: "to punctuation", "[CLS]": "to [CLS]", "[SEP]": "to [SEP]" };

const share = (value) => percent(value, 0, { counted: true });
const g = (value) => general(value, 6);
const keys = (pieces) => pieces.map((at) => `0.${at}`).join(" ");
const longest = (names) => Math.max(...names.map((each) => Array.from(each).length));
const places = (view) => view.units.map((each) => each.at[0]);

/** Draw the main part of the attention page. */
export function attentionView(answer, view) {
  const { shown, patterns, heads } = answer;
  const name = nameOf(shown.places, heads);
  const found = patterns.find((each) => shown.places.length === 1 &&
    each.layer === shown.places[0][0] && each.head === shown.places[0][1]);
  return [
    answer.read_as.length ? line("Read as ", h("code", {}, "[MASK]"), ": ", codes(answer.read_as), ".")
      : null,
    view.cut ?? null,
    headline(`${name}. ${strongest(view)}`),
    line(found ? `Attention here: ${goes(found)}.` : ""),
    mapPicture(answer, view, name),
    view.words ? line("Words: attention to their pieces is added up, attention from them is averaged.")
      : null,
    gridPicture(answer, view), linesPicture(answer, view, name),
  ];
}

function nameOf([[layer, head], ...more], heads) {
  return more.length ? `Layer ${layer}, mean of its ${heads} heads` : `Layer ${layer}, head ${head}`;
}

function goes({ name, score }) {
  if (GOES[name]) return `${share(score)} ${GOES[name]}`;
  return name === "broad" ? "to everything almost equally" : "no simple pattern";
}

/** Name the strongest link, between two pieces of the text if there are any. */
function strongest({ units, size, weights }) {
  const text = units.map((each) => each.side !== null);
  const between = (at) => text[Math.floor(at / size)] && text[at % size] && at % (size + 1);
  const rest = text.filter(Boolean).length > 1;
  let best = -1;
  weights.forEach((each, at) => {
    if ((!rest || between(at)) && (best < 0 || each > weights[best])) best = at;
  });
  const [from, to] = [Math.floor(best / size), best % size];
  const said = (at) => `“${visible(units[at].token)}” (${at})`;
  return `Strongest link${rest ? " ([CLS], [SEP] and each piece itself left out)" : ""}: ` +
    `${said(from)} gives ${said(to)} ${weights[best].toFixed(4)} of its attention.`;
}

const fileName = (shown) => shown.length > 1 ? `attention-mean-of-${shown.length}`
  : `attention-layer${shown[0][0]}-head${shown[0][1]}`;

// -- drawing --------------------------------------------------------------------------------------

const shades = (weights, top) => Uint8Array.from(weights, (each) =>
  Math.round(255 * Math.min(1, Math.max(0, each / (top || 1)))));
const colour = (shade) => PAPER.subarray(3 * shade, 3 * shade + 3);
const hex = (shade) => `#${Array.from(colour(shade), (each) =>
  each.toString(16).padStart(2, "0")).join("")}`;
const ink = (shade) => {
  const [red, green, blue] = colour(shade);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
};
const words = (x, y, anchor, says, more) => h("text", { x, y, "text-anchor": anchor,
  "dominant-baseline": "central", ...more }, says);
const image = (href, x, y, width, height) => h("image", { href, x: g(x), y: g(y), width: g(width),
  height: g(height), preserveAspectRatio: "none", "image-rendering": "pixelated" });
const paper = (width, height, parts) => h("svg", { viewBox: `0 0 ${g(width)} ${g(height)}`,
  class: "bx-att-paper", xmlns: SVG, "font-size": 15, fill: "#111111", "aria-hidden": "true",
  "font-family": "Arial, Helvetica, sans-serif" },
h("rect", { width: "100%", height: "100%", fill: "#ffffff" }), parts);

function short(name, room, size = 15) {
  const letters = Math.max(2, Math.floor(room / (LETTER * size / 15)));
  const chars = Array.from(name);
  return chars.length <= letters ? name : `${chars.slice(0, letters - 1).join("")}…`;
}

function mapPicture(answer, view, name) {
  const { units, size, weights } = view;
  const top = weights.reduce((most, each) => Math.max(most, each), 0);
  const numbers = shades(weights, top);
  const pixels = size > SMALL ? png(numbers, size) : null;
  const first = places(view);
  const names = units.map((each, n) => `${first[n]} ${visible(each.token)}`);
  const [columns, rows] = size <= SMALL
    ? [["looks \\ looked at", ...names], units.map((each, row) => ({ at: keys(each.at),
      cells: [names[row], ...weights.subarray(row * size, (row + 1) * size)] }))]
    : [["looks", "looked at", "attention"], largest(weights, ROWS).map((at) =>
      ({ cells: [names[Math.floor(at / size)], names[at % size], weights[at]] }))];
  return picture(fileName(answer.shown.places),
    `${name}: ${size} tokens look at ${size}. ${strongest(view)}`,
    (width) => map(view, { numbers, pixels, width, top, name }), columns, rows);
}

function largest(values, most) {
  const least = Float32Array.from(values).sort().at(-most);
  const found = [];
  values.forEach((each, at) => each >= least && found.push(at));
  return found.sort((a, b) => values[b] - values[a] || b - a).slice(0, most);
}

function map(view, { numbers, pixels, width, top, name }) {
  const { units, size, weights } = view;
  const names = units.map((each) => visible(each.token));
  const left = Math.min(0.28 * width, LETTER * longest(names) + 12);
  const head = Math.min(110, LETTER * longest(names) + 12);
  const side = (width - left - 4) / size;
  const high = Math.min(side, 36);
  const letter = Math.min(15, 0.9 * high);
  const cells = (marked, draw) => [...weights.keys()].flatMap((at) =>
    marked(at) ? draw(Math.floor(at / size), at % size, at) : []);
  const parts = pixels ? [image(pixels, left, head, size * side, size * high)]
    : cells((at) => numbers[at], (row, column, at) => h("rect", {
      x: (left + column * side).toFixed(2), y: (head + row * high).toFixed(2),
      width: side.toFixed(2), height: high.toFixed(2), fill: hex(numbers[at]),
      "data-value": general(weights[at], 8) }));
  const look = { "font-size": Math.max(letter, 9).toFixed(1) };
  for (let row = 0; row < size; row += Math.max(1, Math.ceil(9 / high))) {
    parts.push(words((left - 6).toFixed(1), (head + (row + 0.5) * high).toFixed(2), "end",
      short(names[row], left - 10, letter), { ...look, "data-at": keys(units[row].at) }));
  }
  for (let column = 0; column < size; column += Math.max(1, Math.ceil(9 / side))) {
    const x = (left + (column + 0.5) * side).toFixed(2);
    parts.push(h("text", { transform: `translate(${x} ${(head - 6).toFixed(1)}) rotate(-90)`,
      "dominant-baseline": "central", ...look, "data-at": keys(units[column].at) },
    short(names[column], head - 10, letter)));
  }
  const bottom = head + size * high;
  parts.push(frame(left.toFixed(1), head.toFixed(1), (size * side).toFixed(2),
    (size * high).toFixed(2)), ...scale(left, bottom, top));
  const print = Math.min(15, 0.42 * side, 0.6 * high);
  if (!pixels && print >= 7) {
    parts.push(...cells((at) => weights[at] >= 0.005, (row, column, at) => words(
      (left + (column + 0.5) * side).toFixed(2), (head + (row + 0.5) * high).toFixed(2), "middle",
      weights[at] >= 0.995 ? weights[at].toFixed(1) : weights[at].toFixed(2).slice(1),
      { "font-size": print.toFixed(1), fill: ink(numbers[at]) })));
  }
  const beside = left + 250 + LETTER * name.length < width;
  const [x, y] = beside ? [left + 250, bottom + 22] : [left, bottom + 46];
  [name, visible(view.model)].forEach((says, n) => parts.push(h("text", { x: x.toFixed(1),
    y: (y + 20 * n).toFixed(1), "dominant-baseline": "central", "font-size": 13 }, says)));
  return paper(width, y + 42, parts);
}

const frame = (x, y, width, height, stroke = "#777777") =>
  h("rect", { x, y, width, height, fill: "none", stroke });
const RAMP = Uint8Array.from({ length: 256 }, (_, n) => n);

function scale(left, bottom, top) {
  const ends = [[left + 58, "0", "end"], [left + 190, general(top, 4), "start"]];
  return [image(png(RAMP, 256), left + 64, bottom + 16, 120, 12),
    frame((left + 64).toFixed(1), (bottom + 16).toFixed(1), 120, 12),
    ...ends.map(([x, says, anchor]) => words(x.toFixed(1), (bottom + 22).toFixed(1), anchor, says,
      { "font-size": 13 }))];
}

function linesPicture({ shown, heads }, view, name) {
  const { units, size, maps } = view;
  const layer = shown.places[0][0];
  const all = shown.places.length > 1 || size <= SMALL;
  const chosen = all ? Array.from({ length: heads }, (_, n) => [layer, n]) : shown.places;
  const each = Math.max(1, Math.min(size, Math.floor(BUDGET / (chosen.length * size))));
  const links = [];
  let over = 0;
  for (const [one, head] of chosen) {
    const weights = maps[one * heads + head];
    for (let row = 0; row < size; row++) {
      const values = weights.subarray(row * size, (row + 1) * size);
      const there = [...values.keys()].filter((column) => values[column]);
      over += there.length;
      links.push(...there.sort((a, b) => values[a] - values[b]).slice(-each)
        .map((column) => ({ row, column, head, weight: values[column] })));
    }
  }
  links.sort((a, b) => a.weight - b.weight);
  const marked = new Set(shown.places.map(([, head]) => head));
  const first = places(view);
  const says = (at) => `${first[at]} ${visible(units[at].token)}`;
  const left = links.length < over ? `, the strongest of ${grouped(over)}` : "";
  return picture(`${fileName(shown.places)}-lines`,
    `${name}: ${count(chosen.length, "head")}: ${grouped(links.length)} lines${left}.`,
    (width) => lines(view, links.filter((link) => marked.has(link.head)), width),
    ["looks", "looked at", "head", "attention"], links.slice(-ROWS).reverse().map((link) =>
      ({ cells: [says(link.row), says(link.column), `${layer}.${link.head}`, link.weight] })));
}

function lines({ units }, links, width) {
  const names = units.map((each) => visible(each.token));
  const left = Math.min(0.3 * width, LETTER * longest(names) + 12);
  const right = width - left;
  const middle = ((left + right) / 2).toFixed(1);
  const parts = links.map(({ row, column, head, weight }) => {
    const [a, b] = [g((row + 0.5) * LINE), g((column + 0.5) * LINE)];
    return h("path", {
      d: `M${left.toFixed(1)} ${a}C${middle} ${a} ${middle} ${b} ${right.toFixed(1)} ${b}`,
      fill: "none", stroke: HEADS[head % HEADS.length],
      "stroke-opacity": (0.1 + 0.9 * Math.min(1, weight)).toFixed(3),
      "stroke-width": (0.5 + 4 * weight).toFixed(2), "data-value": general(weight, 8) });
  });
  for (const [x, anchor] of [[left - 6, "end"], [right + 6, "start"]]) {
    units.forEach((each, at) => parts.push(words(x.toFixed(1), ((at + 0.5) * LINE).toFixed(1), anchor,
      short(names[at], 0.3 * width - 12), { "data-at": keys(each.at) })));
  }
  return paper(width, LINE * units.length, parts);
}

function gridPicture({ layers, heads, patterns }, view) {
  const { maps, size, statistics } = view;
  const side = Math.min(32, Math.max(8, Math.floor(Math.sqrt(GRID / maps.length))));
  const small = maps.map((weights) => png(...pooled(weights, size, Math.min(side, size))));
  const draw = (width) => {
    const room = (width - 30) / heads;
    const parts = Array.from({ length: heads }, (_, head) => h("text", {
      x: (30 + (head + 0.5) * room).toFixed(2), y: 14, "text-anchor": "middle" }, String(head)));
    for (let layer = 0; layer < layers; layer++) {
      const y = 22 + layer * room;
      parts.push(words(20, (y + room / 2).toFixed(2), "end", String(layer)));
      for (let head = 0; head < heads; head++) {
        const x = 30 + head * room;
        parts.push(image(small[layer * heads + head], x + 1, y + 1, room - 3, room - 3),
          frame((x + 1).toFixed(2), (y + 1).toFixed(2), (room - 3).toFixed(2), (room - 3).toFixed(2),
            "#999999"));
      }
    }
    return paper(width, 24 + layers * room, parts);
  };
  const special = statistics.map((each) => each.to_cls + each.to_sep);
  const spread = statistics.map((each) => each.entropy);
  const at = (values, best) => values.indexOf(best);
  const [most, least] = [Math.max(...special), Math.min(...spread)];
  const place = (n) => `ayer ${Math.floor(n / heads)}, head ${n % heads}`;
  return picture("attention-all-heads",
    `${layers} layers (rows) of ${heads} heads (columns), each a small picture of ${size} tokens ` +
    `looking at ${size}. L${place(at(special, most))} looks most at [CLS] and [SEP] ` +
    `(${share(most)}); l${place(at(spread, least))} is the sharpest (${least.toFixed(1)} bits).`,
    draw, ["rank", "layer", "head", "here", "usually", "clearest pattern"],
    patterns.slice(0, ROWS).map(({ layer, head, name, score }, n) => ({ cells: [whole(n + 1), whole(layer),
      whole(head), name, "–", Number(score.toFixed(4))] })));
}

/** Sum over the columns of each block and average over its rows; return the shades, and the side. */
function pooled(weights, size, side) {
  const block = Array.from({ length: size }, (_, at) => Math.floor(at * side / size));
  const rows = block.reduce((found, each) => { found[each]++; return found; }, new Array(side).fill(0));
  const sums = new Float64Array(side * side);
  weights.forEach((each, at) => {
    sums[block[Math.floor(at / size)] * side + block[at % size]] += each;
  });
  const small = sums.map((each, at) => each / rows[Math.floor(at / side)]);
  return [shades(small, small.reduce((most, each) => Math.max(most, each), 0)), side];
}

// -- images ---------------------------------------------------------------------------------------

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** Write shades as a PNG file (ISO/IEC 15948), stored without compression, as an address. */
function png(numbers, columns) {
  const rows = numbers.length / columns;
  const lines = new Uint8Array(rows * (columns + 1)); // each row begins with 0, "no filter"
  for (let row = 0; row < rows; row++) {
    lines.set(numbers.subarray(row * columns, (row + 1) * columns), row * (columns + 1) + 1);
  }
  let [a, b] = [1, 0];
  for (const each of lines) {
    a = (a + each) % 65521;
    b = (b + a) % 65521;
  }
  const stored = [0x78, 1];
  for (let at = 0; at < lines.length; at += 65535) {
    const part = lines.subarray(at, at + 65535);
    const [low, high] = [part.length & 255, part.length >> 8];
    stored.push(Number(at + 65535 >= lines.length), low, high, low ^ 255, high ^ 255);
    for (const each of part) stored.push(each);
  }
  stored.push(...word(b * 65536 + a));
  const bytes = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10,
    ...chunk("IHDR", [...word(columns), ...word(rows), 8, 3, 0, 0, 0]), ...chunk("PLTE", PAPER),
    ...chunk("IDAT", stored), ...chunk("IEND", [])]);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return `data:image/png;base64,${btoa(text)}`;
}

const word = (value) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

function* chunk(name, body) {
  let check = 0xffffffff;
  const named = [...name].map((letter) => letter.charCodeAt(0));
  yield* word(body.length);
  for (const part of [named, body]) {
    for (const each of part) {
      check = CRC[(check ^ each) & 255] ^ (check >>> 8);
      yield each;
    }
  }
  yield* word(~check);
}
