'use strict';

// The page: it takes files, gives them to a worker, and shows what comes back.
(() => {
  const $ = (id) => document.getElementById(id);
  let worker = null; // has the program; null before the first log and after one that was given up
  let logs = []; // of two the older one first
  let made = null; // the answer of the worker
  let strict = false; // the level of the last scrubbing

  // A worker that a blob begins has the policy of this page, so that it can reach no other host either.
  function start() {
    const base = new URL('.', location.href).href;
    const code = `const base = ${JSON.stringify(base)}; importScripts(base + 'worker.js');`;
    const address = URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
    const w = new Worker(address);
    w.onmessage = (e) => answered(e.data);
    w.onerror = (e) => failed(e.message || 'the program did not start');
    return w;
  }

  function failed(text) {
    working(false);
    worker?.terminate();
    worker = null;
    $('error').textContent = text;
    $('error').hidden = false;
  }

  function working(on) {
    document.body.setAttribute('aria-busy', on);
    $('progress').hidden = !on;
    if (!on) $('status').textContent = '';
  }

  function answered(m) {
    if (m.progress !== undefined) {
      $('progress').value = m.progress;
      return;
    }
    if (m.status) {
      if (document.body.getAttribute('aria-busy') === 'true') $('status').textContent = m.status;
      return;
    }
    if (m.failed) {
      failed(m.failed);
      return;
    }
    working(false);
    $('error').textContent = m.error;
    $('error').hidden = m.error === '';
    if (m.html === undefined) return;
    made = m;
    document.querySelector('main').hidden = true;
    $('result').hidden = false;
    const level = strict ? 'Strict: only common words, counts, names of mods, versions and frames are left. ' : '';
    $('removed').textContent = level + (m.removed.length ? 'Removed: ' + m.removed.join(', ') + '. ' : '') + m.error;
    $('difference').hidden = m.difference === '';
    $('swap').hidden = m.difference === '';
    const [difference, suspects] = $('difference').querySelectorAll('pre');
    difference.textContent = m.difference;
    suspects.textContent = m.suspects;
    $('report').srcdoc = m.html;
    $('said').textContent = '';
    $('again').focus();
  }

  function read(files) {
    if (files.length === 0) return;
    logs = files;
    $('error').hidden = true;
    $('progress').value = 0;
    working(true);
    $('status').textContent = files.length === 1 ? `Reading ${files[0].name}` : `Reading ${files.length} logs`;
    worker ??= start();
    strict = $('strict').checked;
    worker.postMessage({files, strict});
  }

  const chosen = (list) => read([...list].sort((a, b) => a.lastModified - b.lastModified));

  $('files').addEventListener('change', (e) => chosen(e.target.files));
  for (const type of ['dragover', 'dragleave', 'drop']) {
    document.addEventListener(type, (e) => {
      e.preventDefault();
      $('drop').classList.toggle('over', type === 'dragover');
      if (type === 'drop') chosen(e.dataTransfer.files);
    });
  }

  $('again').addEventListener('click', () => {
    made = null;
    $('report').srcdoc = '';
    $('result').hidden = true;
    document.querySelector('main').hidden = false;
    $('files').value = '';
    $('files').focus();
  });
  $('swap').addEventListener('click', () => {
    document.querySelector('main').hidden = false;
    $('result').hidden = true;
    read([...logs].reverse());
  });
  $('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(made.markdown);
      $('said').textContent = 'Copied';
    } catch {
      $('said').textContent = 'The browser did not allow it: use Save as Markdown';
    }
  });
  const save = (name, type, data) => {
    const a = document.createElement('a');
    a.href = URL.createObjectURL(new Blob([data], {type}));
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  };
  const name = () => logs.map((f) => f.name).join(' and ');
  $('markdown').addEventListener('click', () => save(name() + '.md', 'text/markdown', made.markdown));
  $('save').addEventListener('click', () => save(name() + '.html', 'text/html', made.html));

  worker = start(); // while the log is looked for
  navigator.serviceWorker?.register('service.js').catch(() => {}); // without it the page needs a network, no more
})();
