// Every head as one small picture: a grid of layers and heads that is a keyboard-operable picker.
//
// data: { layers, heads, rows, columns, pictures (base64, L*H*r*c bytes), peaks (L*H numbers),
//         common (true: 0 to 1 for all heads; false: each head up to its own peak),
//         palette (base64, 256 * 3 bytes), chosen: {layer, head|null}, notes (L*H strings),
//         label, top }
// Sends the trigger "pick" with {layer, head}. Texts reach the page through textContent alone.

const memory = new WeakMap();

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
  view.append(grid, readout, legend);
  root.append(view);
  return { view, grid, cells, readout, legend, shape: `${data.layers}x${data.heads}` };
}

function paint(cell, data, index, pictures, palette) {
  const canvas = cell.firstChild;
  canvas.width = data.columns;
  canvas.height = data.rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(data.columns, data.rows);
  const size = data.rows * data.columns;
  const factor = data.common ? data.peaks[index] : 1;
  for (let i = 0; i < size; i += 1) {
    const colour = 3 * Math.min(255, Math.round(pictures[index * size + i] * factor));
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

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data) return undefined;
  let parts = memory.get(parentElement);
  if (!parts || parts.shape !== `${data.layers}x${data.heads}` || !parts.view.isConnected) {
    parts?.view.remove();
    parts = build(parentElement, data);
    memory.set(parentElement, parts);
  }
  const { grid, cells, readout, legend } = parts;
  const pictures = bytes(data.pictures);
  const palette = bytes(data.palette);
  grid.setAttribute("aria-label", data.label);
  const isChosen = (index) => {
    const layer = Math.floor(index / data.heads);
    const head = index % data.heads;
    return layer === data.chosen.layer && (data.chosen.head === null || data.chosen.head === head);
  };
  const say = (index) => {
    const at = index ?? cells.findIndex((_, i) => isChosen(i));
    const mean = index === undefined && data.chosen.head === null;
    readout.textContent = mean
      ? `Layer ${data.chosen.layer}, mean over its ${data.heads} heads`
      : `Layer ${Math.floor(at / data.heads)}, head ${at % data.heads}: ${data.notes[at]}`;
  };
  const enter = cells.findIndex((_, i) => isChosen(i));
  const pick = (index) =>
    setTriggerValue("pick", { layer: Math.floor(index / data.heads), head: index % data.heads });
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -data.heads, ArrowDown: data.heads };
  cells.forEach((cell, index) => {
    paint(cell, data, index, pictures, palette);
    cell.tabIndex = index === Math.max(0, enter) ? 0 : -1;
    cell.setAttribute("aria-selected", String(isChosen(index)));
    const layer = Math.floor(index / data.heads);
    cell.setAttribute(
      "aria-label",
      `Layer ${layer}, head ${index % data.heads}. ${data.notes[index]}`,
    );
    cell.onmouseenter = () => say(index);
    cell.onmouseleave = () => say();
    cell.onfocus = () => say(index);
    cell.onblur = () => say();
    cell.onclick = () => pick(index);
    cell.onkeydown = (event) => {
      let next;
      if (event.key in steps) next = index + steps[event.key];
      else if (event.key === "Home") next = layer * data.heads;
      else if (event.key === "End") next = (layer + 1) * data.heads - 1;
      else if (event.key === "Enter" || event.key === " ") pick(index);
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
  say();
  legend.querySelector(".bar").style.background = gradient(palette);
  legend.querySelector(".top").textContent = data.top;
  return () => memory.delete(parentElement);
}
