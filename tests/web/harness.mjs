// What the checks share: a server, a browser, and pages that remember what was said, asked for and thrown.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { addressOf, serve } from '../../web/serve.mjs';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHOTS = `${ROOT}target-web/shots`;

// Software everywhere, so that any machine gives the same: WebGPU by SwiftShader, WebGL by ANGLE on it.
const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-unsafe-swiftshader',
];
const WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan'];
const NO_WEBGPU = ['--disable-features=WebGPU,WebGPUService'];

function chromiumPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    } catch {
      // The next name.
    }
  }
  throw new Error('no Chromium found: ./setup.sh --web installs it, or set CHROMIUM to its path');
}

export function launch({ webgpu = true, flags = [] } = {}) {
  const args = ['--headless=new', ...FLAGS, ...(webgpu ? WEBGPU : NO_WEBGPU), ...flags];
  return chromium.launch({ executablePath: chromiumPath(), args, headless: true });
}

// Serves a folder of the repository; `close` ends it at once, open connections or not.
export async function host(folder, { base = '/', plain = false } = {}) {
  const server = await serve({ folder: ROOT + folder, base, plain });
  return {
    address: addressOf(server, base),
    origin: addressOf(server, '').replace(/\/$/, ''),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

// A page in a profile of its own. `said` are console messages of warning and error, `thrown` uncaught errors,
// `asked` the addresses of all requests, workers' included.
export async function tab(browser, { prepare, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  const seen = { said: [], logged: [], thrown: [], asked: [] };
  page.on('console', (message) => {
    const line = `${message.type()}: ${message.text()}`;
    seen.logged.push(line);
    if (['warning', 'error', 'assert'].includes(message.type())) seen.said.push(line);
  });
  page.on('pageerror', (error) => seen.thrown.push(String(error.stack ?? error)));
  context.on('request', (request) => seen.asked.push(request.url()));
  if (prepare) await prepare(page);
  return { page, context, ...seen, close: () => context.close() };
}

export async function shot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  return page.screenshot({ path: `${SHOTS}/${name}.png` });
}

// Requests that leave the page's own origin.
export function strangers(asked, origin) {
  return asked.filter((address) => !address.startsWith(`${origin}/`) && !/^(data|blob):/.test(address));
}
