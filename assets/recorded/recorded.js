// A page of the recorded site, after bridge.js. The address `index.html#qa/1-a-short-story` opens
// that example; in a frame, as on a Space, the page tells the one around it what to put into the
// address, so that a copied link leads back here.
{
  const here = document.querySelector("[data-place]")?.dataset.place ?? "";
  const wanted = `${location.hash.slice(1)}.html`;
  const links = [...document.links].map((link) => link.getAttribute("href"));
  // On a phone the menu is wider than the screen.
  const menu = document.querySelector("header");
  const open = menu.querySelector("[aria-current]");
  if (open) menu.scrollLeft = open.offsetLeft - menu.clientWidth / 2;
  if (!here && links.includes(wanted)) location.replace(wanted);
  else if (window.parent !== window) {
    const hash = here && `#${here}`;
    window.parent.postMessage({ queryString: "", hash }, "https://huggingface.co");
  }
}
