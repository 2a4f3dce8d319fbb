/** Pages that were opened, and what answers in them, for visits without a connection. */

const KEPT = "bert-explorer-pages";
const OURS = /^(?:(?:.*\.html)?|live\/.*|site\.webmanifest)$/; // another application may live here later

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => {
  const keep = event.data.keep.map((url) => new Request(url, { cache: "no-cache" }));
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(keep)).catch(() => {})); // no room
});

// What the site has now comes first; what is kept answers where there is no connection. The
// weights are kept by the worker, under their digest.
addEventListener("fetch", (event) => {
  const { method, url, mode } = event.request;
  const path = url.startsWith(registration.scope) ? url.slice(registration.scope.length) : null;
  const ours = path !== null && OURS.test(path.replace(/[?#].*$/s, ""));
  if (method !== "GET" || !(ours || mode === "navigate") || url.includes("model.safetensors")) return;
  event.respondWith(fetch(event.request).then((response) => {
    if (ours && response.ok && !/no-store/i.test(response.headers.get("Cache-Control"))) {
      const copy = response.clone();
      event.waitUntil(caches.open(KEPT).then((cache) => cache.put(event.request, copy)).catch(() => {}));
    }
    return response;
  }).catch(async () => await caches.match(event.request, { ignoreSearch: true }) ?? Response.error()));
});
