// The teacher's panel of a class: how many are there and have answered, and the votes, told by the
// server as they come. The students' page takes `bars` from this file.
//
// data: { events (address of the stream), stage (of the room, as Python last saw it), code }
// Sends the trigger "pick" with { hide, stage }: the place of a word to hide or show, or -1 where the
// class has been moved on from another browser. Texts reach the page through textContent alone.

export const RETRY = 3000; // ms until a connection that was refused is tried again
const CATCH_UP = 2000; // ms in which Python may learn of a change by itself
const MANY = 5; // bars; more of them take one line each
const panels = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  let panel = panels.get(parentElement);
  if (!panel) panels.set(parentElement, (panel = built(parentElement)));
  panel.known = data.stage;
  panel.code = data.code;
  panel.send = (pick) => setTriggerValue("pick", pick);
  if (panel.address !== data.events) listen(panel, data.events);
  return () => {
    panel.source?.close();
    clearTimeout(panel.timer);
    clearTimeout(panel.retry);
    panels.delete(parentElement);
  };
}

function built(root) {
  const view = element("div", "view");
  root.append(view);
  return { view, open: false };
}

function listen(panel, address) {
  panel.source?.close();
  clearTimeout(panel.retry);
  panel.address = address;
  panel.source = new EventSource(address);
  panel.source.addEventListener("error", ({ target }) => {
    if (target.readyState === EventSource.CLOSED) panel.retry = setTimeout(listen, RETRY, panel, address);
  });
  panel.source.addEventListener("state", (event) => show(panel, JSON.parse(event.data)));
  panel.source.addEventListener("end", (event) => {
    panel.source.close();
    panel.view.replaceChildren(element("p", "count", JSON.parse(event.data).says));
  });
}

function show(panel, told) {
  const count = element("p", "count", `${told.here} here`);
  if (told.kind && told.kind !== "look") count.textContent += `, ${told.answered} answered`;
  if (told.phase === "revealed") count.textContent += ` · code ${panel.code}`; // the large one is gone
  const parts = [count];
  const voting = told.phase === "ask" || told.phase === "again";
  if (told.bars?.length && voting) parts.push(folded(panel, bars(told)));
  else if (told.bars?.length) parts.push(bars(told));
  if (told.words?.length) parts.push(words(told, (place) => panel.send({ hide: place, stage: told.stage })));
  const focused = panel.view.getRootNode().activeElement?.dataset.place;
  panel.view.replaceChildren(...parts);
  if (focused) panel.view.querySelector(`[data-place="${focused}"]`)?.focus();
  clearTimeout(panel.timer);
  panel.timer = setTimeout(() => told.stage > panel.known && panel.send({ hide: -1, stage: told.stage }), CATCH_UP);
}

// While votes are taken, the class should not see them on the projector.
function folded(panel, inside) {
  const fold = element("details");
  fold.open = panel.open;
  fold.append(element("summary", "", "Votes so far (the class will see them)"), inside);
  fold.addEventListener("toggle", () => (panel.open = fold.open));
  return fold;
}

export function element(name, kind = "", text) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Bars of one or two rounds, each as long as its share of all votes of the round; `mine` is the place
// of one's own answer.
export function bars({ bars: rows, round }, mine = -1) {
  const list = element("ul", rows.length > MANY ? "bars tight" : "bars");
  const sum = (of) => Math.max(1, rows.reduce((all, row) => all + row[of], 0));
  const all = { first: sum("first"), second: sum("second") };
  rows.forEach((row, place) => {
    const notes = [place === mine && "you", row.right && "the model"].filter(Boolean).join(", ");
    list.append(bar(notes ? `${row.label} (${notes})` : row.label, row, round, all));
  });
  return withLegend(list, round);
}

function bar(name, row, round, all) {
  const item = element("li", row.right ? "right" : "");
  const tracks = element("span", "tracks");
  for (const [kind, of] of round ? [["before", "first"], ["", "second"]] : [["", "first"]]) {
    tracks.append(track(row[of] / all[of], kind));
  }
  const votes = element("span", "votes", round ? `${row.first} → ${row.second}` : `${row.first}`);
  item.append(element("span", "name", name), votes, tracks);
  return item;
}

function track(share, kind = "") {
  const whole = element("span", `track ${kind}`);
  const part = element("i");
  part.style.width = `${100 * share}%`;
  part.hidden = !share;
  whole.append(part);
  return whole;
}

function withLegend(list, round, says = "") {
  const both = element("div");
  both.append(list);
  if (round) says += "Before → after talking about it.";
  if (says) both.append(element("p", "legend", says));
  return both;
}

// Words with the model's probability of each; `hide` adds a button to hide one or show it again.
export function words({ words: rows, round }, hide) {
  const list = element("ul", "bars words");
  const order = [...rows].sort((a, b) => (b.chance ?? -1) - (a.chance ?? -1));
  for (const row of order) {
    const item = element("li");
    const times = round ? `${row.first} → ${row.second}` : `${row.first}`;
    const votes = element("span", "votes", row.hidden ? "" : `${times} × · ${percent(row.chance)} `);
    if (hide) votes.append(hideButton(row, hide));
    item.append(element("bdi", "name", row.hidden ? "(hidden)" : row.text), votes);
    if (!row.hidden) item.append(track(row.chance ?? 0));
    list.append(item);
  }
  return withLegend(list, round, "How many wrote it · the model’s probability. ");
}

function hideButton(row, hide) {
  const button = element("button", "hide", row.hidden ? "Show it again" : "Hide");
  button.type = "button";
  button.dataset.place = row.place;
  if (!row.hidden) button.ariaLabel = `Hide ${row.text}`;
  button.onclick = () => hide(row.place);
  return button;
}

function percent(chance) {
  if (chance === null || chance === undefined) return "–";
  const value = 100 * chance;
  if (value >= 10) return `${value.toFixed(0)}\u00a0%`;
  return value >= 0.01 ? `${Number(value.toPrecision(1))}\u00a0%` : "< 0.01\u00a0%";
}
