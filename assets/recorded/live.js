// A page of a live recorded site: what answers is loaded from the site, and every script is compared
// with its digest before it is imported. From a disk, browsers load no modules, so the page stays as
// it is and says why.
{
  const place = document.querySelector("[data-live]");
  const says = place?.querySelector("p");
  const root = place?.dataset.live === "home" ? "" : "../";
  const at = (name) => new URL(`${root}live/${name}`, location.href);
  const checked = async (name, integrity) => {
    const response = await fetch(at(name), { integrity });
    if (!response.ok) throw new TypeError(response.status);
    const link = Object.assign(document.createElement("link"), { rel: "modulepreload", href: at(name), integrity });
    document.head.append(link);
  };
  if (place && !/^https?:$/.test(location.protocol)) {
    says.textContent =
      "Recorded. To type your own text, open this page from a web server: from a disk, browsers load no model.";
  } else if (place) {
    const files = JSON.parse(place.dataset.files);
    const form = { lab: "lab_page.js", lesson: "lesson.js" }[place.dataset.live] ?? "page.js";
    const first = form === "lab_page.js" ? Object.keys(files).filter((name) => name.endsWith(".js"))
      : ["build.js", "carry.js", "controls.js", "offline.js", ...new Set(["page.js", form]),
        ...place.dataset.live === "xray" ? ["xray_switches.js"] : []];
    Promise.all(first.map((name) => checked(name, files[name])))
      .then(() => import(at(form)))
      .then(({ mount }) => mount(place), () => {
        says.textContent =
          "Recorded. What answers your own text could not be loaded, or is not what this page was written with.";
      });
  }
}
