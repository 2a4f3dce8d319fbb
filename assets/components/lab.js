// The lab on a page of the site; its scripts are in the folder `live` beside the page.
//
// data: { lab (what it is told, as JSON) }

const mounted = new WeakSet(); // a run of the page does not end a training

export default function ({ data, parentElement }) {
  if (mounted.has(parentElement)) return;
  mounted.add(parentElement);
  const place = document.createElement("div");
  place.className = "bx-lab";
  place.dataset.lab = data.lab;
  parentElement.append(place);
  import(new URL("live/lab_page.js", document.baseURI)).then(({ mount }) => mount(place), () => {
    place.textContent = "The lab could not be loaded. Reload the page.";
  });
}
