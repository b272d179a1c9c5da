// Checks what the browser has, loads the program with a bar, and hands the canvas to it.

import { fail, version } from './failure.js';
import { load, remove, save } from './storage.js';

const loading = document.getElementById('loading');
const text = document.getElementById('loading-text');
const bar = document.getElementById('loading-bar');
const canvas = document.getElementById('plateau');

// How much of the bar each stage takes; the rest is what the program reports of its own start.
const DOWNLOADED = 0.6;
const COMPILED = 0.7;

// The smallest module that uses a vector instruction: (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)
const SIMD = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

function show(words, part) {
  text.textContent = words;
  if (part === undefined) bar.removeAttribute('value');
  else bar.value = part;
}

// What the program asks of the page.
globalThis.plateauHost = {
  ready() {
    loading.remove();
    // The hidden field in which the program takes text has no label of its own.
    canvas.parentNode.querySelector('input')?.setAttribute('aria-label', 'Text for the program above');
  },
  progress(words, part) {
    show(words, COMPILED + (1 - COMPILED) * Math.min(Math.max(part, 0), 1));
  },
  failed: fail,
  download,
  load,
  save,
  remove,
};

function download(name, mime, bytes) {
  const address = URL.createObjectURL(new Blob([bytes], { type: mime }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // Browsers read the blob after the click; a minute is plenty.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// The kind of what is missing, or undefined.
function lacking() {
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate) return 'wasm';
  if (!WebAssembly.validate(SIMD)) return 'simd';
  if (!hasWebGl()) return 'webgl';
  if (typeof Worker !== 'function') return 'worker';
  return undefined;
}

// On a canvas of its own: asking the real one would fix its settings.
function hasWebGl() {
  const context = document.createElement('canvas').getContext('webgl2');
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return Boolean(context);
}

class Missing extends Error {}

async function get(path) {
  let response;
  try {
    response = await fetch(path);
  } catch (error) {
    throw new Missing(`${path}: ${error.message}`);
  }
  if (!response.ok) throw new Missing(`${path}: the host answers ${response.status}`);
  return response;
}

async function loadProgram() {
  const [glue, module] = await Promise.all([loadGlue(), loadModule()]);
  return [glue, module];
}

async function loadGlue() {
  try {
    return await import('./plateau.js');
  } catch (error) {
    throw new Missing(`plateau.js: ${error.message}`);
  }
}

async function loadModule() {
  show('Loading the program …', 0);
  const response = await get('./plateau_bg.wasm');
  const counted = count(response.clone());
  const module = compile(response);
  await Promise.all([counted, module]);
  return module;
}

// The host's own length may be that of the compressed file, or absent: build.sh writes the true one into the page.
async function count(response) {
  const all = Number(document.querySelector('meta[name=plateau-bytes]').content) || Number(response.headers.get('content-length'));
  const reader = response.body.getReader();
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read().catch((error) => {
      throw new Missing(`plateau_bg.wasm broke off after ${bytes} bytes: ${error.message}`);
    });
    if (done) break;
    bytes += value.byteLength;
    const part = all > 0 ? Math.min(bytes / all, 1) : undefined;
    const percent = part === undefined ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.floor(100 * part)} %`;
    show(`Loading the program … ${percent}`, part === undefined ? undefined : DOWNLOADED * part);
  }
  show('Compiling …', DOWNLOADED);
}

// While it arrives where the host names its type rightly (browsers insist on it), else afterwards.
async function compile(response) {
  const type = response.headers.get('content-type') ?? '';
  try {
    if (type.startsWith('application/wasm')) return await WebAssembly.compileStreaming(response);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    // A stream that breaks off is a TypeError or an AbortError, by browser.
    if (error instanceof WebAssembly.CompileError || error instanceof RangeError) throw error;
    throw new Missing(`plateau_bg.wasm: ${error.message}`);
  }
}

// What an error of the start means.
function kindOf(error) {
  if (error instanceof Missing) return 'missing';
  if (error instanceof WebAssembly.LinkError) return 'mixed';
  if (error instanceof WebAssembly.CompileError) return /simd|simd128|v128/i.test(error.message) ? 'simd' : 'missing';
  if (error instanceof WebAssembly.RuntimeError) return 'panic';
  return 'start';
}

function describe(error) {
  return error?.stack?.includes(error.message) ? error.stack : `${error?.message ?? error}\n${error?.stack ?? ''}`;
}

function watch() {
  // After a panic every call into the program ends in a RuntimeError; the panic's own report mostly came before.
  addEventListener('error', (event) => {
    if (event.error instanceof WebAssembly.RuntimeError) fail('panic', describe(event.error));
  });
  addEventListener('unhandledrejection', (event) => {
    if (event.reason instanceof WebAssembly.RuntimeError) fail('panic', describe(event.reason));
  });
  canvas.addEventListener('webglcontextlost', () => fail('lost', 'webglcontextlost'));
  // Wheel and pinch belong to the plots: the page itself neither scrolls nor zooms under them.
  canvas.addEventListener('wheel', (event) => event.preventDefault(), { passive: false });
  // Ctrl+E exports the run; browsers take it for their search field.
  addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.code === 'KeyE') event.preventDefault();
  }, true);
  for (const name of ['gesturestart', 'gesturechange']) {
    canvas.addEventListener(name, (event) => event.preventDefault());
  }
}

async function boot() {
  const lack = lacking();
  if (lack) return fail(lack, 'found before the program was loaded');
  watch();
  try {
    const [plateau, module] = await loadProgram();
    show('Starting …', COMPILED);
    await plateau.default({ module_or_path: module });
    await plateau.start_page(canvas, module);
  } catch (error) {
    fail(kindOf(error), describe(error));
  }
}

console.debug(`Plateau ${version()}`);
boot();
