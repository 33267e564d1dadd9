'use strict';

// The worker: it starts the program, and gives it the files that the page sends, part by part. base is the address of
// the page's folder.
importScripts(base + 'wasm_exec.js');

const program = new Promise((started, failed) => {
  self.ready = () => started();
  const go = new Go();
  (async () => {
    const packed = await fetch(base + 'heed.bin');
    if (!packed.ok) throw new Error(`heed.bin: ${packed.status} ${packed.statusText}`);
    const plain = packed.body.pipeThrough(new DecompressionStream('gzip'));
    const response = new Response(plain, {headers: {'Content-Type': 'application/wasm'}});
    const {instance} = await WebAssembly.instantiateStreaming(response, go.importObject);
    await go.run(instance);
    throw new Error('the program ended');
  })().catch(failed);
});

program.catch((e) => postMessage({stopped: e.message}));

// readable is a file as the program reads it: read() returns its next part.
function readable(file, count) {
  const parts = file.stream().getReader();
  return {
    name: file.name,
    read: async () => {
      const {done, value} = await parts.read();
      if (done) return null;
      count(value.length);
      return value;
    },
  };
}

self.onmessage = async ({data: {files, strict, language}}) => {
  try {
    await program;
    const all = files.reduce((sum, f) => sum + f.size, 0);
    let read = 0;
    const count = (n) => {
      read += n;
      postMessage({progress: all ? read / all : 1});
      if (read === all) postMessage({making: true});
    };
    postMessage(await heed(files.map((f) => readable(f, count)), language, strict));
  } catch (e) {
    postMessage({unread: e.message});
  }
};
