// One head as a heat map, drawn by Python (app/features/attention/view_pictures.py). This adds what
// a pointer and the keyboard do: the value of a cell, and a click or Enter that pins it.
//
// data: { markup (the drawing, and the line above it), tokens (labels), pieces (lists of the pieces of
//         each), values (of all cells, row by row; [] for a large matrix: then they are read off the
//         colours), top (value of the last colour), cell ([row, column] as pieces, or null), said }
// Sends the trigger "pick" with { row, column }, pieces of the input; -1, -1 for no cell. Cells and
// labels share the light with the page by keys (see bridge.js). Texts become text nodes alone.

const SVG = "http://www.w3.org/2000/svg";
const memory = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data) return undefined;
  let parts = memory.get(parentElement);
  if (!parts?.host.isConnected) memory.set(parentElement, (parts = { host: added(parentElement) }));
  const { host } = parts;
  if (parts.markup !== data.markup) {
    const focused = host.contains(document.activeElement);
    parts.markup = host.innerHTML = data.markup; // from app/words/html.py, which escapes every text
    parts.cursor = null;
    const [first, ...others] = host.querySelectorAll("image:first-of-type");
    for (const each of others) each.setAttribute("href", first.href.baseVal); // it is sent once
    if (focused) host.querySelector("[role=application]").focus({ preventScroll: true });
  }
  const map = host.querySelector("[role=application]");
  const said = host.querySelector("[aria-live]");
  const { tokens, pieces } = data;
  const size = tokens.length;
  const found = data.cell?.map((piece) => pieces.findIndex((each) => each.includes(piece)));
  parts.pinned = found && Math.min(...found) >= 0 ? found : null;
  parts.values = Promise.resolve(data.values.length ? data.values : readColours(map, data));

  /** Write about the cell that is pointed at, else the pinned one, and outline both. */
  async function show() {
    const cell = parts.cursor ?? parts.pinned;
    outline(map, size, [[parts.pinned, 3], [parts.cursor, 2]]);
    const values = await parts.values;
    if (cell !== (parts.cursor ?? parts.pinned)) return; // moved on while colours were read
    if (!cell) return void said.replaceChildren(data.said);
    const [row, column] = cell;
    const where = (at) => ` (${pieces[at][0]})`;
    said.replaceChildren(token(tokens[row]), `${where(row)} looks at `, token(tokens[column]),
      `${where(column)}: `, written(values[row * size + column], data));
  }

  function move(cell) {
    if (String(parts.cursor) === String(cell)) return;
    parts.cursor = cell;
    const keys = cell?.flatMap((at) => pieces[at]).map((piece) => `0.${piece}`) ?? [];
    document.dispatchEvent(new CustomEvent("bx-at", { detail: keys.join(" ") }));
    show();
  }

  function pin(cell) {
    parts.pinned = String(parts.pinned) === String(cell) ? null : cell;
    const [row, column] = parts.pinned?.map((at) => pieces[at][0]) ?? [-1, -1];
    setTriggerValue("pick", { row, column });
    show();
  }

  function under({ clientX, clientY }) {
    const box = frameOf(map).getBoundingClientRect();
    const shares = [(clientY - box.top) / box.height, (clientX - box.left) / box.width];
    const cell = shares.map((share) => Math.floor(share * size));
    return cell.every((at) => at >= 0 && at < size) ? cell : null;
  }

  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
    Home: [0, -Infinity], End: [0, Infinity] };
  map.onpointermove = (event) => move(under(event));
  map.onpointerleave = map.onblur = () => move(null);
  map.onclick = (event) => under(event) && pin(under(event));
  map.onkeydown = (event) => {
    const from = parts.cursor ?? parts.pinned ?? [0, 0];
    const step = parts.cursor ? STEPS[event.key] : [0, 0]; // the first key arrives
    if (event.key in STEPS) {
      move(from.map((at, axis) => Math.max(0, Math.min(size - 1, at + step[axis]))));
    } else if (event.key === "Enter" || event.key === " ") {
      move(from);
      pin(from);
    } else if (event.key === "Escape") {
      move(null);
      pin(null);
    } else return;
    event.preventDefault();
  };
  show();
  return () => memory.delete(parentElement);
}

function added(parent) {
  const host = document.createElement("div");
  host.className = "bx-markup";
  parent.append(host);
  return host;
}

/** The frame of the cells in the drawing that is seen: there is a wide and a narrow one. */
function frameOf(map) {
  const frames = [...map.querySelectorAll(".bx-att-cells > rect:first-child")];
  return frames.find((each) => each.getBoundingClientRect().width) ?? frames[0];
}

function outline(map, size, cells) {
  for (const group of map.querySelectorAll(".bx-att-cells")) {
    const [frame, ...old] = group.children;
    for (const each of old) each.remove();
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(frame.getAttribute(name)));
    for (const [cell, thick] of cells) {
      if (!cell) continue;
      for (const [stroke, more] of [["#ffffff", 2.5], ["#d55e00", 0]]) { // seen on every shade
        const rect = document.createElementNS(SVG, "rect");
        const place = { x: x + cell[1] * width / size, y: y + cell[0] * height / size, stroke,
          width: width / size, height: height / size, fill: "none", "stroke-width": thick + more };
        for (const [name, value] of Object.entries(place)) rect.setAttribute(name, value);
        group.append(rect);
      }
    }
  }
}

function token(says) {
  const node = document.createElement("bdi");
  node.append(says);
  return node;
}

/** A value as text: of four digits, or, read off a colour, of two. */
function written(value, { values, top }) {
  const node = document.createElement("strong");
  if (values.length) node.append(value.toFixed(4));
  else node.append(value ? `about ${value.toPrecision(2)}` : `below ${(top / 510).toPrecision(2)}`);
  return node;
}

/** Read values off the colours of the cells: the image below them is the scale. */
async function readColours(map, { top }) {
  const [cells, scale] = await Promise.all([...map.querySelector("svg").querySelectorAll("image")].map(pixels));
  const shades = new Map(Array.from(scale, (colour, shade) => [colour, shade / 255]));
  return Float32Array.from(cells, (colour) => top * shades.get(colour));
}

async function pixels({ href }) {
  const picture = new Image();
  picture.src = href.baseVal;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const pen = canvas.getContext("2d");
  pen.drawImage(picture, 0, 0);
  return new Uint32Array(pen.getImageData(0, 0, picture.width, picture.height).data.buffer);
}
