// What the site's own markup can do. Mounted once per page by app/faces/streamlit/frame.py; it
// listens on the document, so markup may come and go.
//
//   data-pick="name" data-value="3"   a click, Enter or Space sends {name, value} to Python, with
//                                     Shift {name+, value}; on a link, instead of its address
//   data-at="0.3 0.4"                 lights up with everything that shares one of its keys
//   data-rove                         arrow keys move the focus inside; one tab stop for all
//   data-rove="9"                     the same in columns of nine: left and right go to the next one
//   data-say="…"                      pointed at or focused, it is written into the [data-readout] of
//                                     the surrounding figure; if empty, its label is
//   data-escape                       Escape clicks it
//   data-save="svg|png|csv|json"      saves the drawing or the table of the surrounding figure
//   data-saves="title"                lists under this title what on the page can be saved so
//   data-focus="name"                 gets the focus when the name changes: the heading of a step
//   data-spoken                       a screen reader is told of it when it is new
//   data-done="lesson step"           remembers in this browser that a step was done
//   data-tick="lesson"                gets how many of its data-steps were done
//   data-clear="ticks"                forgets them
//   data-copy="address"               copies the address of the page; any other value is copied itself
//
// In a frame of the Hugging Face Hub, the page around it is told of every new address.
//
// Components in a shadow root share the light through the document's event "bx-at" (detail: keys).
// A page saved as a file contains this script as well; there is no Python behind it.

// What Streamlit calls its elements. No name is documented: tests/app/compat/test_streamlit_compat.py
// looks for each of them in Streamlit's page.
const STREAMLIT = {
  menu: '[data-testid="stSidebarNavItems"]',
  menuLink: '[data-testid="stSidebarNavLink"]',
  closeMenu: '[data-testid="stSidebarCollapseButton"] button',
  menuKey: "stSidebarCollapsed-",
  unfolded: '[data-testid="stPopoverBody"]',
  unfoldedButton: '[data-testid="stPopoverBody"] [data-testid="stButton"]',
  fold: '[data-testid="stPopover"] button[aria-expanded="true"]',
  dialog: '[data-testid="stDialog"]',
  app: ".stApp",
};

let step = ""; // of a lesson, whose heading is on the page
let spoken = []; // what a screen reader was told last

const site = (window.bxSite ??= installed());

export default function ({ data, setTriggerValue }) {
  site.send = (pick) => setTriggerValue("pick", pick);
  const shown = `${data.page} ${data.present}`;
  if (site.shown !== undefined && site.shown !== shown) toTop();
  site.shown = shown;
  return () => {};
}

function installed() {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", () => watch?.disconnect());
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, pointed);
    document.addEventListener(kind, say);
  }
  document.addEventListener("bx-at", (event) => light(event.detail, false));
  const app = document.querySelector(STREAMLIT.app);
  if (app) {
    keepHistory();
    addEventListener("pagehide", forgetMenu);
    tellHub();
    const changed = () => (nameMenu(), listSaves(), goToStep(), speak(), tick());
    changed();
    new MutationObserver(changed).observe(document.body, { childList: true, subtree: true });
    // The theme may be another one than the system's; what unfolds is outside of the app.
    const theme = () => (document.documentElement.dataset.theme = getComputedStyle(app).colorScheme);
    theme();
    new MutationObserver(theme).observe(app, { attributeFilter: ["class"] });
  }
  return { send() {}, lit: "" };
}

function clicked(event) {
  const target = event.target.closest?.("[data-pick], [data-save], [data-copy], [data-clear]");
  if (target?.href && (event.ctrlKey || event.metaKey || event.shiftKey)) return; // a new tab
  if (target?.dataset.pick) event.preventDefault(), pick(target, event);
  else if (target?.dataset.save) save(target);
  else if (target?.dataset.copy) copyAddress(target);
  else if (target?.dataset.clear) keepTicks({}), tick();
  if (event.target.closest?.(STREAMLIT.menuLink)) closeMenu();
  if (event.target.closest?.(STREAMLIT.unfoldedButton)) fold();
}

function pick(target) {
  const { pick: name, value } = target.dataset;
  if (document.activeElement === target) keepFocus(`[data-pick="${name}"][data-value="${value}"]`);
  site.send({ name, value: Number(value) });
}

// The answer may replace the element that was picked: its successor gets the focus, unless the
// visitor has pointed elsewhere meanwhile.
let watch = null;

function keepFocus(selector) {
  watch?.disconnect();
  const mine = (watch = new MutationObserver(() => {
    if (document.activeElement !== document.body) return;
    document.querySelector(selector)?.focus({ preventScroll: true });
  }));
  mine.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => mine.disconnect(), 30_000);
}

function pressed(event) {
  const target = event.target;
  if (event.key === "Escape") escape(target);
  if ((event.key === "Enter" || event.key === " ") && target.dataset?.pick) {
    if (target.tagName !== "BUTTON") {
      event.preventDefault();
      pick(target, event);
    }
    return;
  }
  const group = target.closest?.("[data-rove]");
  const across = Number(group?.dataset.rove) || 1;
  const steps = { ArrowRight: across, ArrowDown: 1, ArrowLeft: -across, ArrowUp: -1 };
  if (!group || !steps[event.key]) return;
  const stops = [...group.querySelectorAll("[tabindex], button, a")];
  const goal = stops.indexOf(target) + steps[event.key];
  const next = stops[Math.min(goal, stops.length - 1)];
  if (!next || next === target) return;
  event.preventDefault();
  for (const stop of stops) stop.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// --- point at one, see all --------------------------------------------------------------------

function pointed(event) {
  const at = event.target.closest?.("[data-at]")?.dataset.at ?? "";
  if (at === site.lit) return;
  light(at, true);
}

function light(at, tell) {
  site.lit = at;
  const keys = new Set(at.split(" ").filter(Boolean));
  for (const node of document.querySelectorAll("[data-at]")) {
    const shares = node.dataset.at.split(" ").some((key) => keys.has(key));
    node.classList.toggle("bx-lit", shares);
  }
  if (tell) document.dispatchEvent(new CustomEvent("bx-at", { detail: at }));
}

// --- what is pointed at explains itself ---------------------------------------------------------

// While nothing is pointed at, the readout says what it said at first.
function say(event) {
  const home = event.target.closest?.("figure");
  const readout = home?.querySelector("[data-readout]");
  if (!readout) return;
  const target = event.target.closest("[data-say]");
  readout.dataset.readout ||= readout.textContent;
  const says = target?.dataset.say || target?.ariaLabel || readout.dataset.readout;
  readout.textContent = says.replace(/(\d) %/g, "$1\u00a0%");
}

// What is open over the page is closed first; Streamlit does that.
function escape(target) {
  endPresenting();
  if (target.closest?.('input, textarea, [role="dialog"], [role="listbox"]')) return;
  if (document.querySelector(`${STREAMLIT.unfolded}, ${STREAMLIT.dialog}`)) return;
  document.querySelector("[data-escape]")?.click();
}

// --- saving -----------------------------------------------------------------------------------

function save(button) {
  const kind = button.dataset.save;
  const home = button.closest("[data-name]");
  const name = home.dataset.name;
  if (kind === "csv" || kind === "json") {
    const rows = readTable(home.querySelector("table"));
    const text = kind === "csv" ? asCsv(rows) : JSON.stringify(asRecords(rows), null, 1);
    const type = kind === "csv" ? "text/csv" : "application/json";
    offer(new Blob([text], { type: `${type};charset=utf-8` }), `${name}.${kind}`);
    return;
  }
  const drawing = home.closest("figure").querySelector(".bx-wide svg, svg");
  const source = standalone(drawing);
  const svg = new Blob([source.text], { type: "image/svg+xml;charset=utf-8" });
  if (kind === "svg") offer(svg, `${name}.svg`);
  else paint(svg, source, (png) => offer(png, `${name}.png`));
}

// The Save menu lists every picture and table on the page. What a button saves is looked up when it
// is pressed: the page may have been drawn anew since.
function listSaves() {
  const menu = document.querySelector("[data-saves]:empty");
  const homes = menu ? savable() : [];
  if (homes.length) menu.append(node("p", "bx-line", menu.dataset.saves));
  homes.forEach((home, place) => {
    const row = node("p", "bx-files", "");
    row.append(node("span", "bx-saves-name", home.dataset.name));
    for (const { dataset } of home.querySelectorAll("[data-save]")) {
      const button = node("button", "bx-save", dataset.save.toUpperCase());
      button.ariaLabel = `Save ${home.dataset.name} as ${button.textContent}`;
      button.onclick = () => save(savable()[place].querySelector(`[data-save=${dataset.save}]`));
      row.append(button);
    }
    menu.append(row);
  });
}

function savable() {
  return [...document.querySelectorAll("figure.bx-picture, .bx-twin")].filter(
    (home) => home.querySelector("[data-save]") && !home.parentElement.closest("figure.bx-picture"),
  );
}

function node(name, kind, text) {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
}

function readTable(table) {
  const read = (row) =>
    [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent);
  return [...table.rows].map(read);
}

function asCsv(rows) {
  const quoted = (cell) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return "\ufeff" + rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function asRecords([head, ...rows]) {
  const value = (cell) => (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : cell);
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], value(cell)])));
}

// Write a drawing as a file of its own: the styles that the page gives it are written into it.
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const from = [drawing, ...drawing.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity",
    "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline"];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    to[i].setAttribute("style", kept.map((k) => `${k}:${style.getPropertyValue(k)}`).join(";"));
    to[i].removeAttribute("class");
  });
  const { width, height } = drawing.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", "Arial, Helvetica, sans-serif");
  const paper = document.createElementNS(copy.namespaceURI, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", background(drawing));
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function background(node) {
  for (let at = node; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/^(transparent|rgba\(.*, 0\))$/.test(colour)) return colour;
  }
  return "#fff";
}

function paint(svg, { width, height }, done) {
  const image = new Image();
  const url = URL.createObjectURL(svg);
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * width;
    canvas.height = 2 * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    canvas.toBlob(done, "image/png");
  };
  image.src = url;
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// --- lessons ----------------------------------------------------------------------------------

// The heading of a new step gets the focus, so that a screen reader goes on there.
function goToStep() {
  const heading = document.querySelector("[data-focus]");
  const name = heading?.dataset.focus ?? "";
  if (name === step) return;
  if (step && name) heading.focus({ preventScroll: true });
  step = name;
}

// Screen readers announce what changes in a region, and seldom a region that is new: so one stays.
function speak() {
  const region = document.querySelector("body > .bx-spoken") ?? document.createElement("div");
  if (!region.isConnected) {
    region.role = "status";
    region.className = "bx-spoken";
    document.body.append(region);
  }
  const says = [...document.querySelectorAll("[data-spoken]")].map(unfolded);
  const fresh = says.filter((text) => !spoken.includes(text));
  spoken = says;
  if (fresh.length) region.textContent = fresh.join(" ");
}

function unfolded(node) {
  const copy = node.cloneNode(true);
  for (const folded of copy.querySelectorAll(".bx-hint, details > :not(summary)")) folded.remove();
  return copy.textContent.trim();
}

// What was done is kept in this browser alone: the numbers of the steps by the name of the lesson.
function tick() {
  const ticks = readTicks();
  let fresh = false;
  for (const { dataset } of document.querySelectorAll("[data-done]")) {
    const [lesson, step] = dataset.done.split(" ");
    if (ticks[lesson]?.includes(step)) continue;
    ticks[lesson] = [...(ticks[lesson] ?? []), step];
    fresh = true;
  }
  if (fresh) keepTicks(ticks);
  for (const place of document.querySelectorAll("[data-tick]")) {
    const done = ticks[place.dataset.tick]?.length ?? 0;
    const says = done ? `${done >= place.dataset.steps ? "✓ done" : `${done} of ${place.dataset.steps} steps`} · ` : "";
    if (place.textContent !== says) place.textContent = says;
  }
}

function readTicks() {
  try {
    return JSON.parse(localStorage.getItem("bx-ticks")) ?? {};
  } catch {
    return {};
  }
}

function keepTicks(ticks) {
  try {
    localStorage.setItem("bx-ticks", JSON.stringify(ticks));
  } catch {} // a browser that keeps nothing for frames
}

// --- the frame --------------------------------------------------------------------------------

// Each act of the visitor that changes the page, a text, or the head, view or pinned cell of the
// attention page, adds one entry to the browser's history.
// Streamlit alone would add none for a typed text, and two for some changes of pages. Back and
// Forward make it run the page with the address of the entry; until that run begins, what the run
// before it still writes would overwrite the entry, and is dropped.
function keepHistory() {
  const { pushState, replaceState } = history;
  let acted = false;
  let awaited = null; // the path of the entry that Back or Forward has led to
  const act = () => ((acted = true), (awaited = null));
  for (const kind of ["pointerdown", "keydown", "click"]) window.addEventListener(kind, act, true);
  window.addEventListener("popstate", () => ((acted = false), (awaited = location.pathname)), true);
  const write = (state, title, url) => {
    const to = new URL(url ?? "", location);
    if (awaited !== null && to.pathname !== awaited) return;
    awaited = null;
    const fresh = acted && place(to) !== place(location);
    if (fresh) acted = false;
    (fresh ? pushState : replaceState).call(history, state, title, url);
    tellHub();
  };
  history.pushState = write;
  history.replaceState = write;
}

// A Space is shown in a frame, and the address that people see and copy is that of the page around
// it. That page takes a query and a hash, so the name of our page becomes a parameter, which
// app/faces/streamlit/site.py reads.
function tellHub() {
  const hub = "https://huggingface.co";
  if (window.parent === window || (location.ancestorOrigins?.[0] ?? hub) !== hub) return;
  const { pathname, searchParams, hash } = shareable();
  const page = pathname.split("/").pop();
  const state = page ? new URLSearchParams([["page", page], ...searchParams]) : searchParams;
  window.parent.postMessage({ queryString: state.toString(), hash }, hub);
}

// The address without what the Hub adds for this visitor: __theme and, in a private Space, __sign.
function shareable() {
  const address = new URL(location.href);
  for (const key of [...address.searchParams.keys()]) {
    if (key.startsWith("__")) address.searchParams.delete(key);
  }
  return address;
}

// The parameters with texts; see app/faces/streamlit/state.py.
const TEXTS = ["text", "text_pair", "question", "choices", "lines", "kept"];

// On the attention page, each head, view or cell that is chosen is a step of its own.
const VIEWS = ["layer", "head", "view", "cell"];

function place({ pathname, search }) {
  const found = new URLSearchParams(search);
  const keys = pathname.endsWith("/attention") ? [...TEXTS, ...VIEWS] : TEXTS;
  return [pathname, ...keys.map((key) => found.get(key))].join("\n");
}

function endPresenting() {
  document.querySelector(".st-key-present input:checked")?.click();
}

function toTop() {
  for (let at = document.querySelector(".st-key-bx-bridge"); at; at = at.parentElement) at.scrollTop = 0;
}

async function copyAddress(button) {
  const { copy } = button.dataset;
  await copyText(copy === "address" ? shareable().href : copy);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1500);
}

// Browsers have no clipboard for pages without https, as in a classroom, and for some frames.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = document.body.appendChild(document.createElement("textarea"));
    box.value = text;
    box.select();
    document.execCommand("copy");
    box.remove();
  }
}

// Streamlit puts the parts of a phone's menu into a list whose entries are not its own. Screen
// readers are told of named groups instead.
function nameMenu() {
  const list = document.querySelector(`${STREAMLIT.menu}:has(li:not([role]))`);
  if (!list) return;
  for (const node of [list, ...list.querySelectorAll("li")]) node.role = "presentation";
  for (const part of list.querySelectorAll(":scope > div")) {
    part.role = "group";
    part.ariaLabel = part.querySelector("header p")?.textContent ?? "";
  }
}

// What unfolds over the page folds up after a choice in it: it would cover the answer or a dialog.
function fold() {
  const open = document.querySelector(STREAMLIT.fold);
  setTimeout(() => open?.click());
}

// Streamlit remembers that the menu was open, and on a phone would lay it over the next page.
function forgetMenu() {
  if (window.innerWidth >= 768) return;
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(STREAMLIT.menuKey)) localStorage.setItem(key, "true");
    }
  } catch {} // a browser that keeps nothing for frames
}

// On a phone the menu lies over the page; a choice closes it.
function closeMenu() {
  if (window.innerWidth < 768) {
    document.querySelector(STREAMLIT.closeMenu)?.click();
  }
}
