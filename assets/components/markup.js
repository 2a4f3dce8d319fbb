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
  const open = openFolds(parentElement);
  let host = parentElement.querySelector(":scope > .bx-markup");
  if (!host) {
    host = document.createElement("div");
    host.className = "bx-markup";
    parentElement.append(host);
  }
  host.innerHTML = data.markup;
  for (const [name, fold] of folds(host)) if (open.has(name)) fold.open = true;
  for (const box of host.querySelectorAll(".bx-scroll")) {
    const here = box.querySelector("[data-here]");
    if (here) box.scrollTop = here.offsetTop - box.clientHeight / 3;
  }
}

// The folds of a drawing by name: their summary, and the how manieth of that name they are.
function folds(node) {
  const seen = {};
  return [...node.querySelectorAll("details")].map((fold) => {
    const says = fold.querySelector("summary")?.textContent ?? "";
    return [`${says} ${(seen[says] = (seen[says] ?? 0) + 1)}`, fold];
  });
}

function openFolds(node) {
  return new Set(folds(node).filter(([, fold]) => fold.open).map(([name]) => name));
}
