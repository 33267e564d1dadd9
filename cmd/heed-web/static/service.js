
// The service worker keeps the files of the page, so that it works without a network. The two constants above are set
// when the page is built: another version has other bytes, and browsers then take it.
self.addEventListener('install', (e) => {
  e.waitUntil(caches.open(version).then((c) => c.addAll(files)).then(() => self.skipWaiting()));
});

self.addEventListener('activate', (e) => {
  e.waitUntil(caches.keys()
    .then((all) => Promise.all(all.filter((v) => v !== version).map((v) => caches.delete(v))))
    .then(() => self.clients.claim()));
});

self.addEventListener('fetch', (e) => {
  e.respondWith(caches.match(e.request, {ignoreSearch: true}).then((kept) => kept ?? fetch(e.request)));
});
