// Lines between the words: who looks (left) at whom (right), one colour per head.
//
// data: { rows, columns (labels), rowsSpecial, columnsSpecial (booleans), rowBreak, columnBreak,
//         rowKeys, columnKeys (keys of the pieces, see bridge.js),
//         names (of the heads), colours (one per head),
//         links: [row, column, index of the head, weight * 10000, ...] (weakest first),
//         active (indices of the heads drawn at first), identity, said (which heads are prepared),
//         cut (what was left out, or "") }
// Texts reach the page through textContent alone; the numbers of a link are checked before use.

const memory = new WeakMap();
const SVG = "http://www.w3.org/2000/svg";
const BUCKETS = 8; // one path per head and strength: the number of nodes does not grow with the text
const WIDTH = 100; // of the drawing, in its own units

function element(name, classes, text) {
  const node = document.createElement(name);
  if (classes) node.className = classes;
  if (text !== undefined) node.textContent = text;
  return node;
}

function path(colour, opacity, width, d) {
  const node = document.createElementNS(SVG, "path");
  node.setAttribute("stroke", colour);
  node.setAttribute("stroke-opacity", String(opacity));
  node.setAttribute("stroke-width", String(width));
  node.setAttribute("d", d);
  return node;
}

function unpack(data) {
  const links = [];
  for (let i = 0; i + 3 < data.links.length; i += 4) {
    const [row, column, head, weight] = data.links.slice(i, i + 4);
    links.push({ row, column, head, weight: weight / 10000 });
  }
  return links;
}

function build(root) {
  const view = element("div", "view");
  const chips = element("div", "chips");
  chips.setAttribute("role", "group");
  chips.setAttribute("aria-label", "Heads drawn");
  const readout = element("p", "readout above");
  readout.setAttribute("aria-live", "polite");
  const scroll = element("div", "scroll of-lines");
  const lines = element("div", "lines");
  const from = element("ul", "words from");
  const to = element("ul", "words to");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (const [list, name] of [[from, "Words that look"], [to, "Words that are looked at"]]) {
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", name);
  }
  lines.append(element("span", "hint", "looks"), element("span"), element("span", "hint", "is looked at"));
  lines.append(from, svg, to);
  scroll.append(lines);
  view.append(chips, readout, scroll);
  root.append(view);
  return { view, chips, readout, scroll, from, to, svg, lit: null, pinned: null };
}

// The height of a word: all fit on the screen, unless they would be too small to read.
function tallness(scroll, count) {
  const letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
  let top = scroll.getBoundingClientRect().top; // and how far what is around it has been scrolled
  for (let at = scroll.parentNode; at; at = at.parentNode ?? at.host) top += at.scrollTop ?? 0;
  const room = Math.max(300, window.innerHeight - top - 2.5 * letter);
  return Math.max(Math.round(0.8 * letter), Math.floor(Math.min(1.6 * letter, room / count)));
}

function same(a, b) {
  return a !== null && b !== null && a.side === b.side && a.index === b.index;
}

export default function ({ data, parentElement }) {
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
  if (parts.identity !== data.identity) {
    parts.identity = data.identity;
    parts.lit = null;
    parts.pinned = null;
    parts.asked = null;
  }
  // Heads switched on or off here stay so until another head or layer is asked for.
  const asked = JSON.stringify([data.names, data.active, data.said]);
  if (parts.asked !== asked) {
    parts.asked = asked;
    parts.active = new Set(data.active);
  }
  const { chips, readout, svg } = parts;
  const links = unpack(data);
  const count = Math.max(data.rows.length, data.columns.length);
  const every = data.names.map((_, head) => head);
  const drawChips = () => {
    const buttons = every.map((head) => {
      const button = element("button");
      button.type = "button";
      const swatch = element("span", "swatch");
      swatch.style.background = data.colours[head];
      swatch.style.borderColor = data.colours[head];
      button.append(swatch, element("span", "", data.names[head].replace("head ", "")));
      button.setAttribute("aria-label", data.names[head]);
      button.setAttribute("aria-pressed", String(parts.active.has(head)));
      button.onclick = () => {
        if (parts.active.has(head)) parts.active.delete(head);
        else parts.active.add(head);
        button.setAttribute("aria-pressed", String(parts.active.has(head)));
        refresh();
      };
      button.ondblclick = () => only([head]);
      return button;
    });
    const only = (heads) => {
      parts.active = new Set(heads);
      drawChips();
      refresh();
    };
    if (every.length > 1) {
      const all = element("button", "", "all");
      const none = element("button", "", "none");
      all.type = none.type = "button";
      all.onclick = () => only(every);
      none.onclick = () => only([]);
      buttons.push(all, none);
    }
    chips.replaceChildren(...buttons);
  };
  drawChips(); // before the room that is left is measured
  const tall = tallness(parts.scroll, count);
  const letter = 0.85 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const middle = (index) => (index + 0.5) * tall;
  const curve = ({ row, column }) =>
    `M0 ${middle(row)}C${WIDTH / 2} ${middle(row)} ${WIDTH / 2} ${middle(column)} ${WIDTH} ${middle(column)}`;
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${count * tall}`);
  svg.style.height = `${count * tall}px`;
  const shown = () => parts.pinned ?? parts.lit;
  const touches = (link, word) => (word.side === "from" ? link.row : link.column) === word.index;

  const lists = [
    { side: "from", node: parts.from, labels: data.rows, special: data.rowsSpecial, gap: data.rowBreak },
    { side: "to", node: parts.to, labels: data.columns, special: data.columnsSpecial, gap: data.columnBreak },
  ];

  const drawLines = () => {
    const word = shown();
    const paths = new Map();
    for (const link of links) {
      if (!parts.active.has(link.head) || (word && touches(link, word))) continue;
      const bucket = Math.min(BUCKETS - 1, Math.floor(link.weight * BUCKETS));
      const key = link.head * BUCKETS + bucket;
      paths.set(key, (paths.get(key) ?? "") + curve(link));
    }
    const nodes = [];
    for (const [key, d] of [...paths].sort((a, b) => (a[0] % BUCKETS) - (b[0] % BUCKETS))) {
      const strength = ((key % BUCKETS) + 0.5) / BUCKETS;
      const opacity = (0.05 + 0.95 * strength) * (word ? 0.06 : 1); // many faint lines add up
      nodes.push(path(data.colours[Math.floor(key / BUCKETS)], opacity, word ? 1 : 1 + 3 * strength, d));
    }
    if (word) {
      for (const link of links) {
        if (!parts.active.has(link.head) || !touches(link, word)) continue;
        const opacity = 0.45 + 0.55 * Math.min(1, link.weight);
        nodes.push(path(data.colours[link.head], opacity, 1.5 + 5 * link.weight, curve(link)));
      }
    }
    svg.replaceChildren(...nodes);
  };

  const drawWords = () => {
    const word = shown();
    const reached = new Map();
    if (word) {
      for (const link of links) {
        if (!parts.active.has(link.head) || !touches(link, word)) continue;
        const other = word.side === "from" ? link.column : link.row;
        reached.set(other, Math.max(reached.get(other) ?? 0, link.weight));
      }
    }
    for (const { side, node } of lists) {
      [...node.children].forEach((item, index) => {
        const here = { side, index };
        const weight = word && word.side !== side ? reached.get(index) : undefined;
        item.classList.toggle("chosen", same(word, here));
        item.classList.toggle("pinned", same(parts.pinned, here));
        item.classList.toggle("lit", weight !== undefined && weight >= 0.05);
        item.setAttribute("aria-selected", String(same(parts.pinned, here)));
        item.querySelector(".value").textContent =
          weight !== undefined && weight >= 0.01 ? weight.toFixed(2) : "";
      });
    }
  };

  const say = () => {
    const word = shown();
    if (!word) {
      const drawn = links.filter((link) => parts.active.has(link.head)).length;
      const heads = parts.active.size === 1 ? data.names[[...parts.active][0]] : `${parts.active.size} heads`;
      readout.textContent = `${data.said}${heads}: ${drawn} lines${data.cut}.`;
      return;
    }
    const strongest = links.filter((l) => parts.active.has(l.head) && touches(l, word)).slice(-3).reverse();
    const labels = word.side === "from" ? data.rows : data.columns;
    const others = word.side === "from" ? data.columns : data.rows;
    const nodes = [
      element("bdi", "token", labels[word.index]),
      element("span", "sign", word.side === "from" ? " looks most at " : " is looked at most by "),
    ];
    strongest.forEach((link, i) => {
      const other = word.side === "from" ? link.column : link.row;
      if (i > 0) nodes.push(element("span", "", ", "));
      nodes.push(element("bdi", "token", others[other]));
      nodes.push(element("span", "", ` ${link.weight.toFixed(4)}${parts.active.size > 1 ? ` (${data.names[link.head]})` : ""}`));
    });
    if (strongest.length === 0) nodes.push(element("span", "", "nothing among the lines drawn"));
    readout.replaceChildren(...nodes);
  };
  const refresh = () => {
    drawLines();
    drawWords();
    say();
  };
  const light = (word) => {
    if (same(parts.lit, word) || (parts.lit === null && word === null)) return;
    parts.lit = word;
    const keys = word ? (word.side === "from" ? data.rowKeys : data.columnKeys)[word.index] : "";
    document.dispatchEvent(new CustomEvent("bx-at", { detail: keys }));
    if (!parts.pinned) refresh();
  };
  parts.link = (told) => {
    const keys = new Set(told.split(" ").filter(Boolean));
    for (const { side, node } of lists) {
      const all = side === "from" ? data.rowKeys : data.columnKeys;
      [...node.children].forEach((item, index) => {
        item.classList.toggle("linked", all[index].split(" ").some((key) => keys.has(key)));
      });
    }
  };
  const pin = (word) => {
    parts.pinned = same(parts.pinned, word) ? null : word;
    parts.lit = word;
    refresh();
  };

  const setTabStop = (node, index) =>
    [...node.children].forEach((item, i) => {
      item.tabIndex = i === index ? 0 : -1;
    });
  const goTo = (list, index) => {
    const item = list.node.children[Math.max(0, Math.min(list.labels.length - 1, index))];
    if (!item) return;
    setTabStop(list.node, [...list.node.children].indexOf(item));
    item.focus();
  };
  lists.forEach((list, which) => {
    const items = list.labels.map((label, index) => {
      const item = element("li");
      item.setAttribute("role", "option");
      item.style.height = `${tall}px`;
      item.style.fontSize = `${Math.min(0.8 * tall, letter)}px`;
      item.classList.toggle("special", list.special[index]);
      item.classList.toggle("starts-second", index === list.gap);
      item.tabIndex = index === 0 ? 0 : -1;
      const value = element("span", "value");
      const name = element("bdi", "name", label);
      item.append(value, name);
      const word = { side: list.side, index };
      item.onmouseenter = () => light(word);
      item.onmouseleave = () => light(null);
      item.onfocus = () => {
        setTabStop(list.node, index);
        if (parts.pinned && !same(parts.pinned, word)) parts.pinned = null;
        light(word);
        refresh();
      };
      item.onblur = () => light(null);
      item.onmousedown = (event) => event.preventDefault(); // a click pins; focus would light first
      item.onclick = () => pin(word);
      item.onkeydown = (event) => {
        if (event.key === "ArrowDown") goTo(list, index + 1);
        else if (event.key === "ArrowUp") goTo(list, index - 1);
        else if (event.key === "Home") goTo(list, 0);
        else if (event.key === "End") goTo(list, list.labels.length - 1);
        else if (event.key === "ArrowLeft") goTo(lists[0], index);
        else if (event.key === "ArrowRight") goTo(lists[1], index);
        else if (event.key === "Enter" || event.key === " ") pin(word);
        else if (event.key === "Escape") {
          parts.pinned = null;
          refresh();
        } else return;
        event.preventDefault();
      };
      return item;
    });
    const had = parentElement.activeElement;
    const focused = had && list.node.contains(had) ? [...list.node.children].indexOf(had) : -1;
    list.node.replaceChildren(...items);
    if (focused >= 0) goTo(lists[which], focused);
  });

  refresh();
  return () => memory.delete(parentElement);
}
