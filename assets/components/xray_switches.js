// The switchboard: every head and block of the model as a switch. A click, Space or Enter toggles
// one; moving on with the button pressed sets others the same way; the name of a layer toggles it.
//
// data: { layers, heads, off (numbers of the parts that are off: layer * (heads + 2) + head, then
//         the attention block, then the feed-forward block), effects (one number per part in nats,
//         null for a part that is missing; or null), notes (a sentence per part), said, label }
// Sends the trigger "pick" with { off }: all numbers, so that no click is lost when several arrive
// at once. Texts reach the page through textContent alone.

const memory = new WeakMap();
const WORTH = 0.05; // of the largest effect: what is smaller has no colour

function element(name, classes, text) {
  const node = document.createElement(name);
  if (classes) node.className = classes;
  if (text !== undefined) node.textContent = text;
  return node;
}

function build(root, { layers, heads }) {
  const view = element("div", layers > 8 ? "view many" : "view");
  const board = element("div", "board");
  board.setAttribute("role", "group");
  board.style.gridTemplateColumns = `auto repeat(${heads}, minmax(0, 1fr)) 0.35rem repeat(2, minmax(0, 1.35fr))`;
  board.append(element("span", "mark", "layer"));
  const names = [...Array(heads).keys()].map(String);
  for (const name of names) board.append(element("span", "mark", name));
  board.append(element("span"), element("span", "mark", "att."), element("span", "mark", "f.f."));
  const cells = [];
  const rows = [];
  for (let layer = 0; layer < layers; layer += 1) {
    const row = element("button", "mark row", String(layer));
    row.type = "button";
    row.tabIndex = -1;
    rows.push(row);
    board.append(row);
    for (let i = 0; i < heads + 2; i += 1) {
      if (i === heads) board.append(element("span"));
      const cell = element("span", i < heads ? "switch" : "switch block");
      cell.setAttribute("role", "switch");
      cell.append(element("i"));
      board.append(cell);
      cells.push(cell);
    }
  }
  const readout = element("p", "readout");
  readout.setAttribute("aria-hidden", "true"); // every switch says the same in its own label
  view.append(board, readout);
  root.append(view);
  return { view, board, cells, rows, readout, shape: `${layers}x${heads}`, focus: 0 };
}

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data) return undefined;
  let parts = memory.get(parentElement);
  if (!parts || parts.shape !== `${data.layers}x${data.heads}` || !parts.view.isConnected) {
    parts?.view.remove();
    parts = build(parentElement, data);
    memory.set(parentElement, parts);
  }
  const { board, cells, rows, readout } = parts;
  const width = data.heads + 2;
  const off = (parts.off = new Set(data.off));
  const most = Math.max(1e-9, ...(data.effects ?? []).map((each) => Math.abs(each ?? 0)));
  const missing = (index) => data.effects?.[index] === null;
  let painting = null; // what a pressed pointer does: true switches off

  const draw = (index) => {
    const cell = cells[index];
    const is = off.has(index);
    const effect = data.effects?.[index] ?? 0;
    cell.setAttribute("aria-checked", String(!is));
    cell.setAttribute("aria-label", data.notes[index]);
    cell.classList.toggle("missing", missing(index));
    const share = Math.min(1, Math.abs(effect) / most);
    cell.classList.toggle("better", effect > 0 && share > WORTH);
    cell.style.setProperty("--share", share > WORTH ? share.toFixed(3) : 0);
    cell.firstChild.textContent = is ? "✕" : "";
  };
  const say = (index) => {
    const is = index === undefined ? "" : off.has(index) ? "Off: " : "On: ";
    const says = index === undefined ? data.said : is + data.notes[index];
    readout.textContent = says.replace(/(\d) %/g, "$1\u00a0%");
  };
  const set = (index, value) => {
    if (missing(index) || off.has(index) === value) return;
    if (value) off.add(index);
    else off.delete(index);
    draw(index);
    say(index);
  };
  const send = () => setTriggerValue("pick", { off: [...off] });
  const enter = (index) => {
    cells[parts.focus].tabIndex = -1;
    parts.focus = index;
    cells[index].tabIndex = 0;
  };

  board.setAttribute("aria-label", data.label);
  board.onpointerup = board.onpointerleave = board.onpointercancel = () => {
    if (painting !== null) send();
    painting = null;
  };
  cells.forEach((cell, index) => {
    draw(index);
    cell.tabIndex = index === parts.focus ? 0 : -1;
    cell.onpointerdown = (event) => {
      if (event.button !== 0) return;
      // A finger is kept by the switch it touches first; it should move on to others.
      if (cell.hasPointerCapture(event.pointerId)) cell.releasePointerCapture(event.pointerId);
      painting = !off.has(index);
      enter(index);
      set(index, painting);
    };
    cell.onpointerenter = () => {
      if (painting === null) say(index);
      else set(index, painting);
    };
    cell.onpointerout = () => say();
    cell.onfocus = () => cell.matches(":focus-visible") && say(index);
    cell.onblur = () => say();
    cell.onkeydown = (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width };
      let next = index + steps[event.key];
      if (event.key === "Home") next = index - (index % width);
      else if (event.key === "End") next = index - (index % width) + width - 1;
      else if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        set(index, !off.has(index));
        send();
        return;
      } else if (!(event.key in steps)) return;
      event.preventDefault();
      if (!cells[next]) return;
      enter(next);
      cells[next].focus();
    };
  });
  rows.forEach((row, layer) => {
    row.setAttribute("aria-label", `Switch all heads of layer ${layer}`);
    row.onclick = () => {
      const those = [...Array(data.heads).keys()].map((i) => layer * width + i);
      const value = !those.every((index) => off.has(index));
      for (const index of those) set(index, value);
      send();
    };
  });
  say();
  return () => memory.delete(parentElement);
}
