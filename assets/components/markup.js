// Markup of ours that Streamlit's own element for HTML would take apart: SVG. It comes from
// app/words/html.py, which escapes every text; the style is the page's own (no shadow root).
//
// A box that scrolls (`bx-scroll`) starts at its element with `data-here`.
//
// data: { markup }

const drawn = new WeakMap();

export default function ({ data, parentElement }) {
  if (drawn.get(parentElement) === data.markup) return;
  drawn.set(parentElement, data.markup);
  const open = parentElement.querySelector("details")?.open;
  let host = parentElement.querySelector(":scope > .bx-markup");
  if (!host) {
    host = document.createElement("div");
    host.className = "bx-markup";
    parentElement.append(host);
  }
  host.innerHTML = data.markup;
  const fold = host.querySelector("details");
  if (open && fold) fold.open = true;
  for (const box of host.querySelectorAll(".bx-scroll")) {
    const here = box.querySelector("[data-here]");
    if (here) box.scrollTop = here.offsetTop - box.clientHeight / 3;
  }
}
