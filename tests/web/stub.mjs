// A program that does nothing, in place of the real one: what the page's shell does can then be tested by itself.

// The empty module.
const WASM = Buffer.from([0, 97, 115, 109, 1, 0, 0, 0]);

// `start` is the body of `start_page(canvas, module)`.
export async function stub(page, start = 'plateauHost.ready();') {
  const glue = `
    export default async function init({ module_or_path }) { await WebAssembly.instantiate(module_or_path); }
    export async function start_page(canvas, module) { ${start} }
    export function start_worker() { postMessage('ready'); onmessage = ({ data }) => postMessage(data); }`;
  await page.context().route('**/plateau.js', (route) => route.fulfill({ contentType: 'text/javascript', body: glue }));
  await page.context().route('**/plateau_bg.wasm', (route) => route.fulfill({ contentType: 'application/wasm', body: WASM }));
}

export async function answer(page, path, code) {
  await page.context().route(`**/${path}`, (route) => route.fulfill({ status: code, contentType: 'text/plain', body: 'no' }));
}
