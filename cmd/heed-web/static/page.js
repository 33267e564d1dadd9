'use strict';

// The page: it takes files, gives them to a worker, and shows what comes back.
(() => {
  const $ = (id) => document.getElementById(id);
  let worker = null; // has the program; null before the first log and after one that was given up
  let logs = []; // of two the older one first
  let made = null; // the answer of the worker
  let strict = false; // the level of the last scrubbing

  // The texts of the page are English until here.
  const language = navigator.language.split('-')[0].toLowerCase();
  const own = texts[language] ?? {};
  const say = (english, value) => (own[english] ?? english).replace('%s', () => value);
  if (texts[language]) document.documentElement.lang = language;
  const nodes = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const english = nodes.currentNode.data.trim();
    if (own[english]) nodes.currentNode.data = nodes.currentNode.data.replace(english, () => own[english]);
  }
  for (const name of ['aria-label', 'title']) {
    for (const e of document.querySelectorAll(`[${name}]`)) e.setAttribute(name, say(e.getAttribute(name)));
  }

  // A worker that a blob begins has the policy of this page, so that it can reach no other host either.
  function start() {
    const base = new URL('.', location.href).href;
    const code = `const base = ${JSON.stringify(base)}; importScripts(base + 'worker.js');`;
    const address = URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
    const w = new Worker(address);
    w.onmessage = (e) => answered(e.data);
    w.onerror = (e) => failed(say('The program did not start: %s', e.message));
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
    if (m.making) {
      if (document.body.getAttribute('aria-busy') === 'true') $('status').textContent = say('Making the report');
      return;
    }
    if (m.stopped !== undefined) {
      failed(say('The program did not start: %s', m.stopped));
      return;
    }
    if (m.unread !== undefined) {
      failed(say('The log could not be read: %s', m.unread));
      return;
    }
    working(false);
    $('error').textContent = m.error;
    $('error').hidden = m.error === '';
    if (m.html === undefined) return;
    made = m;
    document.querySelector('main').hidden = true;
    $('result').hidden = false;
    const level = strict ? say('Strict: only common words, counts, names of mods, versions and frames are left.') : '';
    const removed = m.removed.length ? say('Removed: %s.', m.removed.join(', ')) : '';
    $('removed').textContent = [level, removed, m.error].join(' ').trim();
    $('difference').hidden = m.difference === '';
    $('swap').hidden = m.difference === '';
    const [suspects, difference] = $('difference').querySelectorAll('pre');
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
    $('status').textContent = 
      files.length === 1 ? say('Reading %s', files[0].name) : say('Reading %s logs', files.length);
    worker ??= start();
    strict = $('strict').checked;
    worker.postMessage({files, strict, language: navigator.language});
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
      $('said').textContent = say('Copied');
    } catch {
      $('said').textContent = say('The browser did not allow it: use Save as Markdown');
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
