/** Pages that were opened, and what answers in them, for visits without a connection. */

const KEPT = "bert-explorer-pages";
const FILES = ["index.html", ...["build", "page", "worker", "draw", "engine", "questions", "refusal",
  "sha256", "tasks", "text", "tokenizer", "lab", "lab_draw", "lab_page", "lab_worker"].map((name) =>
  `live/${name}.js`), "live/bert.wasm", "live/lab.wasm", "live/tables.json", "live/lab.json",
"live/live.json", "live/vocab.txt"];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)));
  skipWaiting();
});
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.add(event.data.keep)));
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
