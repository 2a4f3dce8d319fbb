/** Pages that were opened, and what answers in them, for visits without a connection. */

const KEPT = "bert-explorer-pages";

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(event.data.keep)));
});

// What the site has now comes first; what is kept answers where there is no connection. The
// weights are kept by the worker, under their digest.
addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET" || !url.startsWith(registration.scope) || url.includes("model.safetensors")) {
    return;
  }
  event.respondWith(fetch(event.request).then(async (response) => {
    if (response.ok) await (await caches.open(KEPT)).put(event.request, response.clone());
    return response;
  }).catch(async () => await caches.match(event.request, { ignoreSearch: true }) ?? Response.error()));
});
