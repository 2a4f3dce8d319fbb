// A page of a live recorded site: what answers is loaded from the site. From a disk, browsers load
// no modules, so the page stays as it is and says why.
{
  const place = document.querySelector("[data-live]");
  const says = place?.querySelector("p");
  if (place && !/^https?:$/.test(location.protocol)) {
    says.textContent =
      "Recorded. To type your own text, open this page from a web server: from a disk, browsers load no model.";
  } else if (place) {
    const form = place.dataset.live === "lab" ? "lab_page" : "page";
    import(new URL(`../live/${form}.js`, location.href)).then(
      ({ mount }) => mount(place),
      () => (says.textContent = "Recorded. What answers your own text could not be loaded."),
    );
  }
}
