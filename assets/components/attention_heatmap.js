// One head as a heat map on a canvas, whole on the screen: exact values under the pointer or the
// arrow keys; a click or Enter pins a cell, and Python shows how its number is computed.
//
// data: { rows (labels), columns (labels), rowsAt, columnsAt (where each is in the input),
//         rowKeys, columnKeys (keys of the pieces, see bridge.js),
//         rowBreak, columnBreak (index where the second sentence begins, or null),
//         values (base64 of R*C little-endian float32; or, when `steps` is not 0, of deflated whole
//         numbers of steps: all low bytes, then all high ones), steps (steps in 1, or 0),
//         top (value of the last colour), log (a logarithmic scale over three decades),
//         palettes { light, dark } (base64, 256 * 3 bytes), cell ([row, column] or null),
//         said (what is written while no cell is pointed at), label }
// Sends the trigger "pick" with { row, column }, positions in the input; -1, -1 for no cell.
// Texts reach the page through textContent and fillText alone.

const memory = new WeakMap();
const DECADES = 3;
const LEAST = 10; // pixels of a number in a cell, where letters are large

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
  if (!data.steps) return new Float32Array(raw.buffer);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = planes.length / 2;
  const values = new Float32Array(size);
  for (let i = 0; i < size; i += 1) values[i] = (planes[i] + 256 * planes[size + i]) / data.steps;
  return values;
}

function digits(value, steps = 0) {
  const places = steps ? Math.floor(Math.log10(steps)) : 4;
  if (steps && value === 0) return `below ${0.5 / steps}`;
  if (value !== 0 && value < 0.0001) return value.toExponential(1);
  return value.toFixed(places);
}

// The number of a colour, 0 to 255, of a value.
function shade(value, data) {
  const share = value / (data.top || 1);
  const seen = data.log ? 1 + Math.log10(Math.max(share, 1e-9)) / DECADES : share;
  return Math.max(0, Math.min(255, Math.round(255 * seen)));
}

function build(root) {
  const view = element("div", "view");
  const readout = element("p", "readout above");
  readout.setAttribute("aria-live", "polite");
  const scroll = element("div", "scroll");
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "heat map");
  scroll.append(canvas);
  const legend = element("div", "legend");
  legend.append(element("span", "low"), element("span", "bar"), element("span", "top"));
  view.append(readout, scroll, legend);
  root.append(view);
  return { view, readout, canvas, scroll, legend, pinned: null, cursor: null, lit: new Set() };
}

// The scale of the theme: light text means a dark page.
function scaleOf(data, style) {
  const [red, green, blue] = style.color.match(/[\d.]+/g).map(Number);
  return bytes(data.palettes[0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light"]);
}

// What is left of the screen below the top of the picture; a phone scrolls instead.
function roomBelow(scroll, width) {
  if (window.innerWidth < 640) return width * 1.6;
  let top = scroll.getBoundingClientRect().top; // and how far what is around it has been scrolled
  for (let at = scroll.parentNode; at; at = at.parentNode ?? at.host) top += at.scrollTop ?? 0;
  return Math.max(300, window.innerHeight - top - 60);
}

function fit(data, width, room, context, letter) {
  const widest = (labels) =>
    labels.slice(0, 600).reduce((most, label) => Math.max(most, context.measureText(label).width), 0);
  const left = Math.min(Math.max(48, Math.min(10 * letter, width * 0.28)), widest(data.rows)) + 10;
  const across = (width - left - 2) / data.columns.length;
  const names = widest(data.columns);
  const upright = names + 8 > across; // names of columns that do not fit are turned
  const top = upright ? Math.min(Math.max(48, room * 0.26), names) + 10 : letter * 1.5;
  const down = (room - top - 2) / data.rows.length;
  // Below one pixel, lines would vanish: such a picture scrolls.
  const high = Math.max(1, Math.min(3 * letter, down, 1.25 * across));
  const wide = Math.max(1, Math.min(across, 2.2 * high));
  return { left, top, wide, high, upright };
}

function shorten(context, label, room) {
  if (context.measureText(label).width <= room) return label;
  const letters = Array.from(label);
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

function ink(red, green, blue) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111" : "#fff";
}

// The cells without labels, one pixel each; drawn once for all movements of the pointer.
function paint(data, values, palette) {
  const picture = new OffscreenCanvas(data.columns.length, data.rows.length);
  const pixels = picture.getContext("2d");
  const image = pixels.createImageData(picture.width, picture.height);
  for (let i = 0; i < values.length; i += 1) {
    const colour = 3 * shade(values[i], data);
    image.data[4 * i] = palette[colour];
    image.data[4 * i + 1] = palette[colour + 1];
    image.data[4 * i + 2] = palette[colour + 2];
    image.data[4 * i + 3] = 255;
  }
  pixels.putImageData(image, 0, 0);
  return picture;
}

function draw(parts, data, values) {
  const { canvas, scroll } = parts;
  if (!scroll.isConnected) return; // taken off the page since this was asked for
  const style = getComputedStyle(scroll);
  const width = scroll.clientWidth || 320;
  const letter = 0.82 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const palette = scaleOf(data, style);
  if (parts.drawn !== data || parts.ink !== style.color) {
    parts.picture = paint(data, values, palette);
    parts.drawn = data;
    parts.ink = style.color;
  }
  const dense = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d");
  const font = (size, weight = "") => `${weight} ${size}px ${style.fontFamily}`;
  context.font = font(letter); // the largest a label gets
  parts.room = roomBelow(scroll, width);
  const plan = fit(data, width, parts.room, context, letter);
  parts.plan = plan;
  const R = data.rows.length;
  const C = data.columns.length;
  const wide = Math.ceil(plan.left + C * plan.wide + 2);
  const high = Math.ceil(plan.top + R * plan.high + 2);
  canvas.width = wide * dense;
  canvas.height = high * dense;
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${high}px`;
  context.setTransform(dense, 0, 0, dense, 0, 0);
  context.clearRect(0, 0, wide, high);
  context.imageSmoothingEnabled = false;
  context.drawImage(parts.picture, plan.left, plan.top, C * plan.wide, R * plan.high);
  context.lineWidth = 1;
  labels(context, parts, data, style, letter, font);
  const number = Math.min(letter, plan.wide * 0.42, plan.high * 0.6);
  if (number >= Math.min(0.54 * letter, LEAST)) {
    context.font = font(number);
    context.textAlign = "center";
    for (let i = 0; i < R * C; i += 1) {
      if (values[i] < 0.005) continue;
      const colour = 3 * shade(values[i], data);
      context.fillStyle = ink(palette[colour], palette[colour + 1], palette[colour + 2]);
      const printed = values[i] >= 0.995 ? values[i].toFixed(1) : values[i].toFixed(2).slice(1);
      context.fillText(
        printed,
        plan.left + ((i % C) + 0.5) * plan.wide,
        plan.top + (Math.floor(i / C) + 0.5) * plan.high,
      );
    }
  }
  border(context, plan, data, R, C, style.color);
  const outline = (cell, strong) => {
    const x = plan.left + cell.c * plan.wide;
    const y = plan.top + cell.r * plan.high;
    const grow = Math.min(plan.wide, plan.high) < 8 ? 4 : 0;
    for (const [thick, colour] of [[strong ? 4 : 3, "#000"], [strong ? 2 : 1, "#fff"]]) {
      context.lineWidth = thick;
      context.strokeStyle = colour;
      context.strokeRect(x - grow, y - grow, plan.wide + 2 * grow, plan.high + 2 * grow);
    }
  };
  if (parts.pinned) outline(parts.pinned, true);
  if (parts.cursor) outline(parts.cursor, false);
}

function labels(context, parts, data, style, letter, font) {
  const { plan, lit } = parts;
  const shares = (keys) => keys.split(" ").some((key) => lit.has(key));
  const size = (room) => Math.max(9, Math.min(letter, room * 0.8));
  const each = (room) => Math.max(1, Math.ceil((0.7 * letter) / room));
  const write = (label, on, room) => {
    if (on) {
      // Lit by something else on the page: a bar beside the name, and bold letters.
      context.fillStyle = "#e69f00";
      context.fillRect(1, -0.5 * letter, 4, letter);
    }
    context.fillStyle = style.color;
    context.fillText(shorten(context, label, room), 0, 0);
  };
  context.textBaseline = "middle";
  context.textAlign = "right";
  data.rows.forEach((label, r) => {
    const on = shares(data.rowKeys[r]);
    if (r % each(plan.high) && !on) return;
    context.font = font(size(plan.high), on ? "bold" : "");
    context.save();
    context.translate(plan.left - 6, plan.top + (r + 0.5) * plan.high);
    write(label, on, plan.left - 7);
    context.restore();
  });
  context.textAlign = plan.upright ? "left" : "center";
  data.columns.forEach((label, c) => {
    const on = shares(data.columnKeys[c]);
    if (c % each(plan.wide) && !on) return;
    context.font = font(size(plan.upright ? plan.wide : 99), on ? "bold" : "");
    context.save();
    context.translate(plan.left + (c + 0.5) * plan.wide, plan.top - (plan.upright ? 6 : 0.7 * letter));
    if (plan.upright) context.rotate(-Math.PI / 2);
    write(label, on, plan.upright ? plan.top - 7 : plan.wide);
    context.restore();
  });
}

function border(context, plan, data, R, C, text) {
  context.strokeStyle = text;
  context.globalAlpha = 0.35; // a frame, because 0 has the colour of the page
  context.beginPath();
  context.rect(plan.left, plan.top, C * plan.wide, R * plan.high);
  context.stroke();
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.setLineDash([6, 4]);
  context.beginPath();
  if (data.rowBreak !== null) {
    const y = plan.top + data.rowBreak * plan.high;
    context.moveTo(0, y);
    context.lineTo(plan.left + C * plan.wide, y);
  }
  if (data.columnBreak !== null) {
    const x = plan.left + data.columnBreak * plan.wide;
    context.moveTo(x, 0);
    context.lineTo(x, plan.top + R * plan.high);
  }
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
    element("span", "sign", ` (${data.rowsAt[r]}) looks at `),
    element("bdi", "token", data.columns[c]),
    element("span", "sign", ` (${data.columnsAt[c]}): `),
    element("strong", "", digits(value, data.steps)),
  );
}

export default async function ({ data, parentElement, setTriggerValue }) {
  if (!data) return undefined;
  let parts = memory.get(parentElement);
  if (!parts || !parts.view.isConnected) {
    parts = build(parentElement);
    memory.set(parentElement, parts);
    const link = (event) => {
      if (!parts.view.isConnected) document.removeEventListener("bx-at", link);
      else parts.link?.(event.detail);
    };
    document.addEventListener("bx-at", link);
  }
  const turn = (parts.turn ?? 0) + 1;
  parts.turn = turn;
  const values = await decode(data);
  // Newer data came while this was unpacked, or it was taken off the page.
  if (parts.turn !== turn || !parts.view.isConnected) return undefined;
  const { canvas, readout, legend } = parts;
  const R = data.rows.length;
  const C = data.columns.length;
  if (parts.cursor && (parts.cursor.r >= R || parts.cursor.c >= C)) parts.cursor = null;
  parts.pinned = data.cell ? { r: data.cell[0], c: data.cell[1] } : null;
  canvas.setAttribute("aria-label", data.label);

  const say = () => {
    const cell = parts.cursor ?? parts.pinned;
    if (cell) sentence(readout, data, values, cell);
    else readout.textContent = data.said;
  };
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw(parts, data, values);
    });
  };
  parts.link = (keys) => {
    parts.lit = new Set(keys.split(" ").filter(Boolean));
    later();
  };
  const light = (keys) => document.dispatchEvent(new CustomEvent("bx-at", { detail: keys }));
  const move = (cell) => {
    if (parts.cursor?.r === cell?.r && parts.cursor?.c === cell?.c) return;
    parts.cursor = cell;
    say();
    light(cell ? `${data.rowKeys[cell.r]} ${data.columnKeys[cell.c]}` : "");
    later();
  };
  const pin = (cell) => {
    const same = cell && parts.pinned?.r === cell.r && parts.pinned?.c === cell.c;
    parts.pinned = same ? null : cell;
    const { r, c } = parts.pinned ?? { r: -1, c: -1 };
    setTriggerValue("pick", { row: data.rowsAt[r] ?? -1, column: data.columnsAt[c] ?? -1 });
    say();
    later();
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const c = Math.floor((event.clientX - box.left - parts.plan.left) / parts.plan.wide);
    const r = Math.floor((event.clientY - box.top - parts.plan.top) / parts.plan.high);
    return r >= 0 && c >= 0 && r < R && c < C ? { r, c } : null;
  };
  canvas.onpointermove = (event) => move(at(event));
  canvas.onpointerleave = () => move(null);
  canvas.onblur = () => move(null);
  canvas.onclick = (event) => {
    const cell = at(event);
    if (cell) pin(cell);
  };
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  canvas.onkeydown = (event) => {
    const from = parts.cursor ?? parts.pinned ?? { r: 0, c: 0 };
    const clamp = (value, most) => Math.max(0, Math.min(most, value));
    if (event.key in steps) {
      const [down, right] = parts.cursor ? steps[event.key] : [0, 0]; // the first key arrives
      move({ r: clamp(from.r + down, R - 1), c: clamp(from.c + right, C - 1) });
    } else if (event.key === "Home") move({ r: from.r, c: 0 });
    else if (event.key === "End") move({ r: from.r, c: C - 1 });
    else if (event.key === "Enter" || event.key === " ") {
      move(from);
      pin(from);
    } else if (event.key === "Escape") {
      move(null);
      pin(null);
    } else return;
    event.preventDefault();
  };
  draw(parts, data, values);
  say();
  legend.querySelector(".low").textContent = data.log ? digits(data.top / 10 ** DECADES) : "0";
  legend.querySelector(".bar").style.background = gradient(scaleOf(data, getComputedStyle(parts.scroll)));
  legend.querySelector(".top").textContent = digits(data.top).replace(/\.0000$/, "");
  parts.observer?.disconnect();
  parts.observer = new ResizeObserver(() => {
    const width = parts.scroll.clientWidth;
    const moved = Math.abs(roomBelow(parts.scroll, width) - parts.room) > 1;
    if (width === parts.width && !moved) return;
    parts.width = width;
    draw(parts, data, values);
  });
  parts.observer.observe(parts.scroll);
  const stage = document.querySelector(".st-key-bx-answer"); // what is above may come later
  if (stage) parts.observer.observe(stage);
  return () => {
    parts.observer?.disconnect();
    memory.delete(parentElement);
  };
}
