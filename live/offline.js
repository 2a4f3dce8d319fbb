/** Visits without a connection. */

/** Keep this page and what answers need for visits without a connection. */
export async function keepOffline(names) {
  if (!navigator.serviceWorker || !isSecureContext) return;
  try {
    await navigator.serviceWorker.register(new URL("../service.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    const pages = [location.href.split("#")[0], ...["../", "../index.html"].map((name) =>
      new URL(name, import.meta.url).href)];
    const live = names.filter((name) => name !== "fitted.safetensors") // kept when it is asked for
      .map((name) => new URL(name, import.meta.url).href);
    active.postMessage({ keep: [...pages, ...live] });
  } catch {} // a browser that keeps nothing
}
