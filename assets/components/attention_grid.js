// Every head as one small picture: a grid of layers and heads that is a keyboard-operable picker.
// The head under the pointer or the keyboard is also shown large, beside the grid.
//
// data: { layers, heads, rows, columns, pictures (base64, L*H*r*c bytes), peaks (L*H numbers),
//         common (true: 0 to 1 for all heads; false: each head up to its own peak),
//         log (a logarithmic scale over three decades),
//         palettes { light, dark } (base64, 256 * 3 bytes), chosen (indices layer * H + head),
//         notes (L*H strings), label, said (what is written while no head is pointed at), top,
//         preview (whether heads are shown large) }
// Sends the trigger "pick" with { layer, head, more }: more is 1 for a click with Shift or Ctrl,
// which adds a head to those shown. Texts reach the page through textContent alone.

const memory = new WeakMap();
const DECADES = 3;
const LARGE = 300; // pixels: the side of the large picture

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function element(name, classes, text) {
  const node = document.createElement(name);
  if (classes) node.className = classes;
  if (text !== undefined) node.textContent = text;
  return node;
}

function build(root, data) {
  const view = element("div", "view");
  const grid = element("div", "grid");
  grid.setAttribute("role", "grid");
  grid.style.gridTemplateColumns = `auto repeat(${data.heads}, minmax(0, 1fr))`;
  const head = element("div", "row");
  head.setAttribute("role", "row");
  const corner = element("span", "mark of-row", "layer");
  corner.setAttribute("role", "columnheader");
  head.append(corner);
  for (let h = 0; h < data.heads; h += 1) {
    const mark = element("span", "mark", String(h));
    mark.setAttribute("role", "columnheader");
    mark.setAttribute("aria-label", `head ${h}`);
    head.append(mark);
  }
  grid.append(head);
  const cells = [];
  for (let l = 0; l < data.layers; l += 1) {
    const row = element("div", "row");
    row.setAttribute("role", "row");
    const mark = element("span", "mark of-row", String(l));
    mark.setAttribute("role", "rowheader");
    mark.setAttribute("aria-label", `layer ${l}`);
    row.append(mark);
    for (let h = 0; h < data.heads; h += 1) {
      const cell = element("div", "cell");
      cell.setAttribute("role", "gridcell");
      cell.tabIndex = -1;
      cell.append(element("canvas"));
      row.append(cell);
      cells.push(cell);
    }
    grid.append(row);
  }
  const readout = element("p", "readout");
  readout.setAttribute("aria-hidden", "true"); // every cell says the same in its own label
  const legend = element("div", "legend");
  legend.append(element("span", "", "0"), element("span", "bar"), element("span", "top"));
  const large = element("div", "large");
  large.setAttribute("aria-hidden", "true");
  large.hidden = true;
  large.append(element("canvas"), element("p"));
  view.append(grid, readout, legend, large);
  root.append(view);
  return { view, grid, cells, readout, legend, large, shape: `${data.layers}x${data.heads}` };
}

// The scale of the theme: light text means a dark page.
function scaleOf(data, node) {
  const [red, green, blue] = getComputedStyle(node).color.match(/[\d.]+/g).map(Number);
  return bytes(data.palettes[0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light"]);
}

// The number of a colour, 0 to 255, from a share of the head's own peak in bytes.
function shade(byte, data, peak) {
  const share = (byte / 255) * (data.common ? peak : 1);
  const seen = data.log ? 1 + Math.log10(Math.max(share, 1e-9)) / DECADES : share;
  return Math.max(0, Math.min(255, Math.round(255 * seen)));
}

function paint(canvas, data, index, pictures, palette) {
  canvas.width = data.columns;
  canvas.height = data.rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(data.columns, data.rows);
  const size = data.rows * data.columns;
  for (let i = 0; i < size; i += 1) {
    const colour = 3 * shade(pictures[index * size + i], data, data.peaks[index]);
    image.data[4 * i] = palette[colour];
    image.data[4 * i + 1] = palette[colour + 1];
    image.data[4 * i + 2] = palette[colour + 2];
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

function gradient(palette) {
  const stops = [];
  for (let i = 0; i < 256; i += 15) {
    stops.push(`rgb(${palette[3 * i]},${palette[3 * i + 1]},${palette[3 * i + 2]})`);
  }
  return `linear-gradient(90deg, ${stops.join(",")})`;
}

// Put the large picture beside the grid where there is room, else below the cell.
function place(large, grid, cell) {
  const box = grid.getBoundingClientRect();
  const here = cell.getBoundingClientRect();
  const beside = box.right + 12 + LARGE < window.innerWidth;
  const top = beside ? here.top - LARGE / 2 : here.bottom + 8;
  large.style.left = `${beside ? box.right + 12 : Math.max(8, box.left)}px`;
  large.style.top = `${Math.max(8, Math.min(top, window.innerHeight - LARGE - 80))}px`;
}

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data) return undefined;
  let parts = memory.get(parentElement);
  if (!parts || parts.shape !== `${data.layers}x${data.heads}` || !parts.view.isConnected) {
    parts?.view.remove();
    parts = build(parentElement, data);
    memory.set(parentElement, parts);
  }
  const { view, grid, cells, readout, legend, large } = parts;
  const pictures = bytes(data.pictures);
  const palette = scaleOf(data, view);
  const chosen = new Set(data.chosen);
  const named = (index) =>
    `Layer ${Math.floor(index / data.heads)}, head ${index % data.heads}: ${data.notes[index]}`;
  const say = (index) => {
    readout.textContent = index === undefined ? data.said : named(index);
    large.hidden = index === undefined || !data.preview;
    if (large.hidden) return;
    paint(large.firstChild, data, index, pictures, palette);
    large.lastChild.textContent = named(index);
    place(large, grid, cells[index]);
  };
  const pick = (index, event) => {
    const more = event.shiftKey || event.ctrlKey || event.metaKey ? 1 : 0;
    setTriggerValue("pick", {
      layer: Math.floor(index / data.heads),
      head: index % data.heads,
      more,
    });
  };
  grid.setAttribute("aria-label", data.label);
  grid.setAttribute("aria-multiselectable", "true");
  const enter = Math.max(0, cells.findIndex((_, index) => chosen.has(index)));
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -data.heads, ArrowDown: data.heads };
  cells.forEach((cell, index) => {
    paint(cell.firstChild, data, index, pictures, palette);
    cell.tabIndex = index === enter ? 0 : -1;
    cell.setAttribute("aria-selected", String(chosen.has(index)));
    const layer = Math.floor(index / data.heads);
    cell.setAttribute("aria-label", named(index));
    cell.onmouseenter = () => say(index);
    cell.onmouseleave = () => say();
    cell.onfocus = () => cell.matches(":focus-visible") && say(index);
    cell.onblur = () => say();
    cell.onclick = (event) => pick(index, event);
    cell.onkeydown = (event) => {
      let next;
      if (event.key in steps) next = index + steps[event.key];
      else if (event.key === "Home") next = layer * data.heads;
      else if (event.key === "End") next = (layer + 1) * data.heads - 1;
      else if (event.key === "Enter" || event.key === " ") pick(index, event);
      else if (event.key === "Escape") say();
      else return;
      event.preventDefault();
      const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
      if (next === undefined || !cells[next]) return;
      if (sideways && Math.floor(next / data.heads) !== layer) return;
      cell.tabIndex = -1;
      cells[next].tabIndex = 0;
      cells[next].focus();
    };
  });
  readout.textContent = data.said;
  legend.querySelector(".bar").style.background = gradient(palette);
  legend.querySelector(".top").textContent = data.top;
  return () => memory.delete(parentElement);
}
