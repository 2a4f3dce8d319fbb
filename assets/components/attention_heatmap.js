// One head as a heat map on a canvas: exact values on hover, by arrow keys, and pinned by a click.
//
// data: { rows (labels), columns (labels), rowsAt, columnsAt (positions in the input),
//         rowBreak, columnBreak (index where the second sentence begins, or null),
//         values (base64 of R*C little-endian float32; or, when rounded, of deflated
//         ten-thousandths: all low bytes, then all high ones), rounded,
//         top (value of the last colour), palette (base64, 256 * 3 bytes),
//         identity (pins last as long as it stays the same), label }
// Texts reach the page through textContent and fillText alone.

const memory = new WeakMap();
const PINS = 6;

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function element(name, classes, text) {
  const node = document.createElement(name);
  if (classes) node.className = classes;
  if (text !== undefined) node.textContent = text;
  return node;
}

async function decode(data) {
  const raw = bytes(data.values);
  if (!data.rounded) return new Float32Array(raw.buffer);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = planes.length / 2;
  const values = new Float32Array(size);
  for (let i = 0; i < size; i += 1) values[i] = (planes[i] + 256 * planes[size + i]) / 10000;
  return values;
}

function digits(value, rounded) {
  if (rounded) return value === 0 ? "below 0.00005" : value.toFixed(4);
  if (value !== 0 && value < 0.0001) return value.toExponential(1);
  return value.toFixed(4);
}

function build(root) {
  const view = element("div", "view");
  const readout = element("p", "readout above");
  readout.setAttribute("aria-live", "polite");
  const scroll = element("div", "scroll");
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  scroll.append(canvas);
  const legend = element("div", "legend");
  legend.append(element("span", "", "0"), element("span", "bar"), element("span", "top"));
  const hint = element(
    "p",
    "hint",
    "Point at a cell for its value, click to pin it. By keyboard: arrow keys, Enter to pin, Escape to clear.",
  );
  const pins = element("ul", "pins");
  pins.setAttribute("aria-label", "Pinned values");
  view.append(readout, scroll, legend, hint, pins);
  root.append(view);
  return { view, readout, canvas, scroll, legend, pins, pinned: [], cursor: null };
}

function fit(data, width, context) {
  const widest = (labels) =>
    labels.slice(0, 600).reduce((most, label) => Math.max(most, context.measureText(label).width), 0);
  const limit = Math.max(48, Math.min(130, width * 0.28));
  const left = Math.min(limit, widest(data.rows)) + 10;
  const top = Math.min(limit, widest(data.columns)) + 10;
  const room = (width - left - 2) / data.columns.length;
  const cell = Math.max(1, Math.min(40, room)); // below one pixel, lines would vanish: scroll
  return { left, top, cell };
}

function ink(red, green, blue) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111" : "#fff";
}

function shorten(context, label, room) {
  if (context.measureText(label).width <= room) return label;
  const letters = Array.from(label);
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

function draw(parts, data, values, palette) {
  const { canvas, scroll } = parts;
  const width = scroll.clientWidth || 320;
  const style = getComputedStyle(scroll);
  const dense = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d");
  const font = (size) => `${size}px ${style.fontFamily}`;
  context.font = font(14); // the largest a label gets
  const plan = fit(data, width, context);
  parts.plan = plan;
  const R = data.rows.length;
  const C = data.columns.length;
  const wide = Math.ceil(plan.left + C * plan.cell + 2);
  const high = Math.ceil(plan.top + R * plan.cell + 2);
  canvas.width = wide * dense;
  canvas.height = high * dense;
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${high}px`;
  context.setTransform(dense, 0, 0, dense, 0, 0);
  context.clearRect(0, 0, wide, high);

  const picture = new OffscreenCanvas(C, R);
  const pixels = picture.getContext("2d");
  const image = pixels.createImageData(C, R);
  const colourOf = (value) => 3 * Math.min(255, Math.round((value / (data.top || 1)) * 255));
  for (let i = 0; i < R * C; i += 1) {
    const colour = colourOf(values[i]);
    image.data[4 * i] = palette[colour];
    image.data[4 * i + 1] = palette[colour + 1];
    image.data[4 * i + 2] = palette[colour + 2];
    image.data[4 * i + 3] = 255;
  }
  pixels.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, plan.left, plan.top, C * plan.cell, R * plan.cell);

  const text = style.color;
  const size = Math.max(10, Math.min(14, plan.cell * 0.85));
  const each = Math.ceil(11 / plan.cell); // labels closer than 11 px would touch
  context.font = font(size);
  context.fillStyle = text;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (let r = 0; r < R; r += each) {
    const label = shorten(context, data.rows[r], plan.left - 7);
    context.fillText(label, plan.left - 6, plan.top + (r + 0.5) * plan.cell);
  }
  context.textAlign = "left";
  for (let c = 0; c < C; c += each) {
    context.save();
    context.translate(plan.left + (c + 0.5) * plan.cell, plan.top - 6);
    context.rotate(-Math.PI / 2);
    context.fillText(shorten(context, data.columns[c], plan.top - 7), 0, 0);
    context.restore();
  }
  if (plan.cell >= 27) {
    context.font = font(Math.min(12, plan.cell * 0.36));
    context.textAlign = "center";
    for (let i = 0; i < R * C; i += 1) {
      const value = values[i];
      if (value < 0.005) continue;
      const colour = colourOf(value);
      context.fillStyle = ink(palette[colour], palette[colour + 1], palette[colour + 2]);
      const printed = value >= 0.995 ? "1.0" : value.toFixed(2).slice(1);
      context.fillText(
        printed,
        plan.left + ((i % C) + 0.5) * plan.cell,
        plan.top + (Math.floor(i / C) + 0.5) * plan.cell,
      );
    }
  }
  border(context, plan, data, R, C, text);
  const outline = (cell, strong) => {
    const x = plan.left + cell.c * plan.cell;
    const y = plan.top + cell.r * plan.cell;
    const grow = plan.cell < 8 ? 4 : 0;
    context.lineWidth = strong ? 4 : 3;
    context.strokeStyle = "#000";
    context.strokeRect(x - grow, y - grow, plan.cell + 2 * grow, plan.cell + 2 * grow);
    context.lineWidth = strong ? 2 : 1;
    context.strokeStyle = "#fff";
    context.strokeRect(x - grow, y - grow, plan.cell + 2 * grow, plan.cell + 2 * grow);
  };
  parts.pinned.forEach((cell) => outline(cell, false));
  if (parts.cursor) outline(parts.cursor, true);
}

function border(context, plan, data, R, C, text) {
  context.strokeStyle = text;
  context.lineWidth = 2;
  context.setLineDash([6, 4]);
  context.beginPath();
  if (data.rowBreak !== null) {
    const y = plan.top + data.rowBreak * plan.cell;
    context.moveTo(0, y);
    context.lineTo(plan.left + C * plan.cell, y);
  }
  if (data.columnBreak !== null) {
    const x = plan.left + data.columnBreak * plan.cell;
    context.moveTo(x, 0);
    context.lineTo(x, plan.top + R * plan.cell);
  }
  // White under the dashes keeps them visible on the darkest colours.
  context.save();
  context.setLineDash([]);
  context.strokeStyle = "rgba(255,255,255,0.8)";
  context.stroke();
  context.restore();
  context.strokeStyle = "#111";
  context.stroke();
  context.setLineDash([]);
}

function gradient(palette) {
  const stops = [];
  for (let i = 0; i < 256; i += 15) {
    stops.push(`rgb(${palette[3 * i]},${palette[3 * i + 1]},${palette[3 * i + 2]})`);
  }
  return `linear-gradient(90deg, ${stops.join(",")})`;
}

function sentence(node, data, values, { r, c }) {
  const value = values[r * data.columns.length + c];
  node.replaceChildren(
    element("bdi", "token", data.rows[r]),
    element("span", "sign", ` (position ${data.rowsAt[r]}) looks at `),
    element("bdi", "token", data.columns[c]),
    element("span", "sign", ` (position ${data.columnsAt[c]}): `),
    element("strong", "", digits(value, data.rounded)),
  );
}

export default async function ({ data, parentElement }) {
  if (!data) return undefined;
  let parts = memory.get(parentElement);
  if (!parts || !parts.view.isConnected) {
    parts = build(parentElement);
    memory.set(parentElement, parts);
  }
  if (parts.identity !== data.identity) {
    parts.identity = data.identity;
    parts.pinned = [];
    parts.cursor = null;
  }
  const turn = (parts.turn ?? 0) + 1;
  parts.turn = turn;
  const values = await decode(data);
  if (parts.turn !== turn) return undefined; // newer data came while this was unpacked
  const palette = bytes(data.palette);
  const { canvas, readout, legend, pins } = parts;
  const R = data.rows.length;
  const C = data.columns.length;
  canvas.setAttribute("aria-label", data.label);
  canvas.setAttribute("aria-roledescription", "heat map");
  legend.querySelector(".bar").style.background = gradient(palette);
  legend.querySelector(".top").textContent = digits(data.top).replace(/\.0000$/, "");

  const listPins = () => {
    pins.replaceChildren(
      ...parts.pinned.map((cell, place) => {
        const item = element("li");
        const drop = element("button", "", "✕");
        drop.type = "button";
        drop.setAttribute("aria-label", "Remove this pin");
        drop.onclick = () => {
          parts.pinned.splice(place, 1);
          refresh();
        };
        const words = element("span");
        sentence(words, data, values, cell);
        item.append(drop, words);
        return item;
      }),
    );
  };
  const say = () => {
    if (parts.cursor) sentence(readout, data, values, parts.cursor);
    else readout.textContent = "Rows look, columns are looked at. No cell is chosen yet.";
  };
  const refresh = () => {
    draw(parts, data, values, palette);
    listPins();
    say();
  };
  const toggle = (cell) => {
    const place = parts.pinned.findIndex((pin) => pin.r === cell.r && pin.c === cell.c);
    if (place >= 0) parts.pinned.splice(place, 1);
    else parts.pinned = [...parts.pinned, { ...cell }].slice(-PINS);
    refresh();
  };
  let waiting = false;
  const move = (cell) => {
    if (parts.cursor && parts.cursor.r === cell.r && parts.cursor.c === cell.c) return;
    parts.cursor = cell;
    say();
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw(parts, data, values, palette);
    });
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const c = Math.floor((event.clientX - box.left - parts.plan.left) / parts.plan.cell);
    const r = Math.floor((event.clientY - box.top - parts.plan.top) / parts.plan.cell);
    return r >= 0 && c >= 0 && r < R && c < C ? { r, c } : null;
  };
  canvas.onpointermove = (event) => {
    const cell = at(event);
    if (cell) move(cell);
  };
  canvas.onclick = (event) => {
    const cell = at(event);
    if (!cell) return;
    move(cell);
    toggle(cell);
  };
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  canvas.onkeydown = (event) => {
    const from = parts.cursor ?? { r: 0, c: 0 };
    if (event.key in steps) {
      const [down, right] = steps[event.key];
      const clamp = (value, most) => Math.max(0, Math.min(most, value));
      move(
        parts.cursor ? { r: clamp(from.r + down, R - 1), c: clamp(from.c + right, C - 1) } : from,
      );
    } else if (event.key === "Home") move({ r: from.r, c: 0 });
    else if (event.key === "End") move({ r: from.r, c: C - 1 });
    else if (event.key === "Enter" || event.key === " ") {
      move(from);
      toggle(from);
    } else if (event.key === "Escape") {
      parts.pinned = [];
      parts.cursor = null;
      refresh();
    } else return;
    event.preventDefault();
  };
  refresh();
  parts.observer?.disconnect();
  parts.observer = new ResizeObserver(() => {
    const width = parts.scroll.clientWidth;
    if (width === parts.width) return;
    parts.width = width;
    draw(parts, data, values, palette);
  });
  parts.observer.observe(parts.scroll);
  return () => {
    parts.observer?.disconnect();
    memory.delete(parentElement);
  };
}
