/** What attention looks like: heat map, lines, and every head, node by node as Python draws them. */

import { codes, headline, line, picture, visible, whole, WIDE } from "./blocks.js";
import { h, SVG } from "./build.js";
import { count, crc32, general, grouped, largest, percent } from "./numbers.js";

const LETTER = 9.6; // width of a letter of 17 units
const SMALL = 64; // tokens a side of a matrix that is a table
const TALL = 0.72; // of the width of a wide heat map
const PIXELS = 128; // a side of a heat map at least
const LINES = 144; // drawn at once; every word has at least one
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
const TO = ["[CLS] and [SEP]", "itself", "previous piece", "next piece", "same piece elsewhere",
  "others"]; // kinds of `doing`

const share = (value) => percent(value, 0, { counted: true });
const g = (value) => general(value, 6);
const keys = (pieces) => pieces.map((at) => `0.${at}`).join(" ");
const longest = (names) => Math.max(...names.map((each) => Array.from(each).length));
const places = (view) => view.units.map((each) => each.at[0]);

/** Draw the main part of the attention page. */
export function attentionView(answer, view) {
  const { shown, heads } = answer;
  const name = nameOf(shown.places, heads);
  return [
    answer.read_as.length ? line("Read as ", h("code", {}, "[MASK]"), ": ", codes(answer.read_as), ".")
      : null,
    view.cut ?? null,
    headline(`${name}. ${strongest(view)}`),
    line(doing(view)),
    mapPicture(answer, view, name),
    view.words ? line("Words: attention to their pieces is added up, attention from them is averaged.")
      : null,
    gridPicture(answer, view), linesPicture(answer, view, name),
  ];
}

function nameOf([[layer, head], ...more], heads) {
  return more.length ? `Layer ${layer}, mean of its ${heads} heads` : `Layer ${layer}, head ${head}`;
}

/** Say where all attention goes, in shares that add up. */
export function doing({ units, size, weights }) {
  const every = [0, 0, 0, 0, 0, 0];
  weights.forEach((each, at) => {
    const [row, column] = [Math.floor(at / size), at % size];
    const kind = [units[column].side === null, column === row, column === row - 1,
      column === row + 1, units[row].token === units[column].token].indexOf(true);
    every[kind < 0 ? 5 : kind] += each / size;
  });
  const shown = [0, 1, 2, 3, 4].sort((a, b) => every[b] - every[a]).slice(0, 3)
    .filter((kind) => every[kind] >= 0.1);
  const shares = shown.map((kind) => every[kind]);
  shares.push(Math.max(0, 1 - shares.reduce((sum, each) => sum + each, 0)));
  const says = wholes(shares).map((each, at) => each && `${each} % ${TO[shown[at] ?? 5]}`);
  return `Attention: ${says.filter(Boolean).join(", ")}.`;
}

/** Round shares to percentages that add up to 100. */
function wholes(shares) {
  const found = shares.map((each) => Math.trunc(100 * each));
  const order = shares.map((_, at) => at).sort((a, b) =>
    (found[a] - 100 * shares[a]) - (found[b] - 100 * shares[b]));
  const missing = 100 - found.reduce((sum, each) => sum + each, 0);
  for (const at of order.slice(0, missing)) found[at]++;
  return found;
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
const ink = (shade) => {
  const [red, green, blue] = colour(shade);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? null : "#ffffff";
};
const words = (anchor, size, texts) => h("g", { "text-anchor": anchor, "dominant-baseline": "central",
  "font-size": size.toFixed(1) }, texts);
const text = (x, y, says, more) => h("text", { x, y, ...more }, says);
const image = (href, x, y, width, height) => h("image", { href, x: g(x), y: g(y), width: g(width),
  height: g(height), preserveAspectRatio: "none", "image-rendering": "pixelated" });
const frame = (x, y, width, height) => h("rect", { x: x.toFixed(2), y: y.toFixed(2),
  width: width.toFixed(2), height: height.toFixed(2), fill: "none", stroke: "#777777" });
const dashed = (d) => h("path", { d, stroke: "#111111", "stroke-width": 1.5, "stroke-dasharray": "6 4" });
const paper = (width, height, parts, more = { "aria-hidden": "true" }) => h("svg", {
  viewBox: `0 0 ${g(width)} ${g(height)}`, class: "bx-att-paper", xmlns: SVG, "font-size": 17,
  fill: "#111111", "font-family": "Arial, Helvetica, sans-serif", ...more },
h("rect", { width: "100%", height: "100%", fill: "#ffffff" }), parts);

function short(name, room, size = 17) {
  const letters = Math.max(2, Math.floor(room / (LETTER * size / 17)));
  const chars = Array.from(name);
  return chars.length <= letters ? name : `${chars.slice(0, letters - 1).join("")}…`;
}

function mapPicture(answer, view, name) {
  const { units, size, weights } = view;
  const top = weights.reduce((most, each) => Math.max(most, each), 0);
  const numbers = shades(weights, top);
  const fine = Math.max(1, Math.floor(PIXELS / size));
  const pixels = png(repeated(numbers, size, fine), size * fine);
  const first = places(view);
  const names = units.map((each, n) => `${first[n]} ${visible(each.token)}`);
  const [columns, rows] = size <= SMALL
    ? [["looks \\ looked at", ...names], units.map((each, row) => ({ at: keys(each.at),
      cells: [names[row], ...weights.subarray(row * size, (row + 1) * size)] }))]
    : [["looks", "looked at", "attention"], largest(weights, ROWS, -1).map((at) =>
      ({ cells: [names[Math.floor(at / size)], names[at % size], weights[at]] }))];
  return picture(fileName(answer.shown.places),
    `${name}: ${size} tokens look at ${size}. ${strongest(view)}`,
    (width) => map(view, { numbers, pixels, width, top, name }), columns, rows);
}

/** Give every cell a square of pixels. */
function repeated(numbers, size, fine) {
  const side = size * fine;
  return Uint8Array.from({ length: side * side }, (_, at) =>
    numbers[Math.floor(at / side / fine) * size + Math.floor((at % side) / fine)]);
}

function map(view, { numbers, pixels, width, top, name }) {
  const { units, size, weights } = view;
  const names = units.map((each) => visible(each.token));
  const left = Math.min(0.28 * width, LETTER * longest(names) + 12);
  const head = Math.min(110, LETTER * longest(names) + 12);
  const side = (width - left - 4) / size;
  const room = width === WIDE ? (TALL * width - head - 42) / size : side;
  const high = Math.min(side, 36, room);
  const bottom = head + size * high;
  const [letter, turned] = [high, side].map((each) => each > 9 ? Math.min(17, 0.9 * each) : 11);
  const every = (room) => units.flatMap(({ at }, n) => room <= 9 && n % Math.ceil(11 / room) ? []
    : [[n, { "data-at": keys(at) }]]);
  const second = units.findIndex((each) => each.side === 1);
  const beside = left + 275 + LETTER * name.length < width;
  const [x, y] = beside ? [left + 275, bottom + 22] : [left, bottom + 46];
  return paper(width, y + 42, [
    image(pixels, left, head, size * side, size * high),
    values(weights, numbers, size, { left, head, side, high }),
    words("end", letter, every(high).map(([n, at]) => text((left - 6).toFixed(1),
      (head + (n + 0.5) * high).toFixed(2), short(names[n], left - 10, letter), at))),
    words("start", turned, every(side).map(([n, at]) => h("text", { ...at, transform:
      `translate(${(left + (n + 0.5) * side).toFixed(2)} ${(head - 6).toFixed(1)}) rotate(-90)` },
    short(names[n], head - 10, turned)))),
    h("g", { class: "bx-att-cells" }, frame(left, head, size * side, size * high)),
    second > 0 ? [dashed(`M0 ${(head + second * high).toFixed(1)}H${(left + size * side).toFixed(1)}`),
      dashed(`M${(left + second * side).toFixed(1)} 0V${bottom.toFixed(1)}`)] : null,
    scale(left, bottom, top),
    words("start", 17, [name, visible(view.model)].map((says, n) =>
      text(x.toFixed(1), (y + 20 * n).toFixed(1), says))),
  ]);
}

/** Print the values in cells that are large enough, a text for each row. */
function values(weights, numbers, size, { left, head, side, high }) {
  const letter = Math.min(17, 0.42 * side, 0.6 * high);
  if (letter < 7) return null;
  const printed = (value) => value >= 0.995 ? value.toFixed(1) : value.toFixed(2).slice(1);
  return words("middle", letter, Array.from({ length: size }, (_, row) => h("text",
    { y: (head + (row + 0.5) * high).toFixed(1) },
    Array.from(weights.subarray(row * size, (row + 1) * size), (value, column) => value < 0.005 ? null
      : h("tspan", { x: (left + (column + 0.5) * side).toFixed(1), fill: ink(numbers[row * size + column]) },
        printed(value))))));
}

const RAMP = Uint8Array.from({ length: 256 }, (_, n) => n);

const scale = (left, bottom, top) => [
  image(png(RAMP, 256), left + 64, bottom + 16, 120, 12),
  frame(left + 64, bottom + 16, 120, 12),
  ...[["end", 58, "0"], ["start", 190, general(top, 4)]].map(([anchor, x, says]) =>
    words(anchor, 17, [text((left + x).toFixed(1), (bottom + 22).toFixed(1), says)])),
];

function linesPicture({ shown, heads }, view, name) {
  const { units, size, maps } = view;
  const chosen = shown.places;
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
  const first = places(view);
  const says = (at) => `${first[at]} ${visible(units[at].token)}`;
  const left = links.length < over ? `, the strongest of ${grouped(over)}` : "";
  return picture(`${fileName(shown.places)}-lines`,
    `${name}: ${count(chosen.length, "head")}: ${grouped(links.length)} lines${left}.`,
    (width) => lines(view, links, chosen, width),
    ["looks", "looked at", "head", "attention"], links.slice(-ROWS).reverse().map((link) =>
      ({ cells: [says(link.row), says(link.column), `${chosen[0][0]}.${link.head}`, link.weight] })), true);
}

function lines({ units }, own, shown, width) {
  const names = units.map((each) => visible(each.token));
  const left = Math.min(0.3 * width, LETTER * longest(names) + 12);
  const right = width - left;
  const middle = ((left + right) / 2).toFixed(1);
  const most = Math.max(1, Math.floor(LINES / units.length));
  const seen = new Map();
  const drawn = own.toReversed().filter(({ row }) => {
    seen.set(row, (seen.get(row) ?? 0) + 1);
    return seen.get(row) <= most;
  }).reverse();
  const paths = drawn.map(({ row, column, head, weight }) => {
    const [a, b] = [g((row + 0.5) * LINE), g((column + 0.5) * LINE)];
    return h("path", {
      d: `M${left.toFixed(1)} ${a}C${middle} ${a} ${middle} ${b} ${right.toFixed(1)} ${b}`,
      stroke: HEADS[head % HEADS.length], "stroke-opacity": (0.1 + 0.9 * Math.min(1, weight)).toFixed(2),
      "stroke-width": (0.5 + 4 * weight).toFixed(2), "data-at": `r${row} c${column}` });
  });
  const says = strongestOf(names, own, shown);
  const sides = [["r", left - 6, "end"], ["c", right + 6, "start"]].map(([key, x, anchor]) =>
    words(anchor, 17, units.map(({ at }, n) => text(x.toFixed(1), g((n + 0.5) * LINE),
      short(names[n], 0.3 * width - 12), { "data-at": `${keys(at)} ${key}${n}`, role: "img",
        tabindex: key === "r" && !n ? 0 : -1, "data-say": "", "aria-label": says[key][n] }))));
  const [below, end] = belowLines(shown, drawn.length < own.length ? most : 0, width,
    LINE * units.length + 14);
  return paper(width, end, [h("g", { fill: "none" }, paths),
    h("g", { "data-rove": units.length, class: "bx-att-words" }, sides), below], { role: "group" });
}

/** Say of each word, on both sides, at which others it looks most and which look at it. */
function strongestOf(names, own, shown) {
  const found = { r: names.map(() => []), c: names.map(() => []) };
  for (const { row, column, head, weight } of own.toReversed()) {
    const more = shown.length > 1 ? ` (head ${shown[0][0]}.${head})` : "";
    for (const [side, here, other] of [["r", row, column], ["c", column, row]]) {
      if (found[side][here].length < 3) found[side][here].push(`${names[other]} ${weight.toFixed(4)}${more}`);
    }
  }
  const verbs = { r: "looks most at", c: "is looked at most by" };
  const says = (side) => names.map((each, n) =>
    `${each} ${verbs[side]} ${found[side][n].join(", ") || "nothing among the lines"}`);
  return { r: says("r"), c: says("c") };
}

/** Name the colours of several heads, and say which lines are left out. */
function belowLines(shown, each, width, y) {
  const many = Math.max(1, Math.floor(width / 70));
  const parts = (shown.length > 1 ? shown : []).flatMap(([layer, head], n) => {
    const [x, at] = [70 * (n % many), g(y + 20 * Math.floor(n / many))];
    return [h("path", { d: `M${x} ${at}h18`, stroke: HEADS[head % HEADS.length], "stroke-width": 4 }),
      text(x + 22, at, `${layer}.${head}`)];
  });
  if (parts.length) y += 20 * (1 + Math.floor((shown.length - 1) / many));
  if (each) {
    parts.push(text(0, g(y), each > 1 ? `Drawn: the ${each} strongest lines of each word.`
      : "Drawn: the strongest line of each word."));
    y += 20;
  }
  return [parts.length ? words("start", 17, parts) : null, y - 6];
}

function gridPicture({ layers, heads, patterns, shown }, view) {
  const { maps, size, statistics } = view;
  const side = Math.min(size, 32, Math.max(8, Math.floor(Math.sqrt(GRID / maps.length))));
  const pixels = mosaic(maps.map((weights) => pooled(weights, size, side)), side, layers, heads);
  const marked = new Set(shown.places.map(String));
  const draw = (width) => {
    const room = (width - 30) / heads;
    const wide = side > 1 ? room * side / (side + 1) : room;
    const at = (n, start) => (start + n * room).toFixed(2);
    const range = (length, made) => Array.from({ length }, (_, n) => made(n));
    const frames = range(heads, (head) => range(layers, (layer) => h("rect", { x: at(head, 30),
      y: at(layer, 22), width: wide.toFixed(2), height: wide.toFixed(2), fill: "none",
      "pointer-events": "all", "data-head": `${layer}.${head}`,
      ...marked.has(`${layer},${head}`) ? { stroke: "#d55e00", "stroke-width": 3 } : { stroke: "#999999" } })));
    return paper(width, 24 + layers * room, [
      words("middle", 15, range(heads, (head) => text(at(head, 30 + wide / 2), 12, String(head)))),
      words("end", 15, range(layers, (layer) => text(24, at(layer, 22 + wide / 2), String(layer)))),
      image(pixels, 30, 22, heads * room, layers * room),
      h("g", { class: "bx-att-heads-map" }, frames)]);
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

/** Sum over the columns of each block and average over its rows; return the shades. */
function pooled(weights, size, side) {
  const block = Array.from({ length: size }, (_, at) => Math.floor(at * side / size));
  const rows = block.reduce((found, each) => { found[each]++; return found; }, new Array(side).fill(0));
  const sums = new Float64Array(side * side);
  weights.forEach((each, at) => {
    sums[block[Math.floor(at / size)] * side + block[at % size]] += each;
  });
  const small = sums.map((each, at) => each / rows[Math.floor(at / side)]);
  return shades(small, small.reduce((most, each) => Math.max(most, each), 0));
}

/** Put small maps into one image, in rows of `heads`, with a white line behind each. */
function mosaic(small, side, layers, heads) {
  const step = side + Number(side > 1);
  const shades = new Uint8Array(layers * heads * step * step);
  small.forEach((each, n) => {
    const first = Math.floor(n / heads) * step * heads * step + (n % heads) * step;
    for (let row = 0; row < side; row++) {
      shades.set(each.subarray(row * side, (row + 1) * side), first + row * heads * step);
    }
  });
  return png(shades, heads * step);
}

// -- images ---------------------------------------------------------------------------------------

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

function chunk(name, body) {
  const bytes = [...new TextEncoder().encode(name), ...body];
  return [...word(body.length), ...bytes, ...word(crc32(bytes))];
}
