// A static server for the page and its tests: right types, the policy that any host may send, nothing outside the folder.
// usage: node serve.mjs FOLDER [PORT]

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

export const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Asked again every time, so that an updated page never meets an older program.
  'Cache-Control': 'no-cache',
};

// The file that an address means, or undefined where it leaves the folder.
function fileOf(folder, base, address) {
  let path;
  try {
    path = decodeURIComponent(new URL(address, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
  if (!path.startsWith(base) || path.includes('\0')) return undefined;
  path = path.slice(base.length);
  if (path === '' || path.endsWith('/')) path += 'index.html';
  const file = normalize(join(folder, path));
  return file.startsWith(normalize(folder + sep)) ? file : undefined;
}

function refuse(response, code, words) {
  response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${words}\n`);
}

async function answer({ folder, base, plain }, request, response) {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'only GET');
  const file = fileOf(folder, base, request.url);
  const found = file && (await stat(file).catch(() => undefined));
  if (!found?.isFile()) return refuse(response, 404, 'not found');
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  const tag = `"${found.size.toString(36)}-${Math.round(found.mtimeMs).toString(36)}"`;
  const headers = plain
    ? { 'Content-Type': type === 'application/wasm' ? 'application/octet-stream' : type }
    : { ...HEADERS, 'Content-Type': type, ETag: tag };
  if (!plain && request.headers['if-none-match'] === tag) {
    response.writeHead(304, headers);
    return response.end();
  }
  response.writeHead(200, { ...headers, 'Content-Length': found.size });
  if (request.method === 'HEAD') return response.end();
  createReadStream(file).on('error', () => response.destroy()).pipe(response);
}

/**
 * Serves a folder on this machine only, and resolves to the server once it listens.
 * `base` is the path it appears under, with slashes around; `plain` sends no headers and the wrong type for wasm,
 * as the least helpful hosts do. Port 0 is any free one.
 */
export function serve({ folder, port = 0, base = '/', plain = false }) {
  const server = createServer((request, response) => {
    answer({ folder, base, plain }, request, response).catch(() => response.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

export function addressOf(server, base = '/') {
  return `http://127.0.0.1:${server.address().port}${base}`;
}

async function main([folder, port = '0']) {
  const number = Number(port);
  if (!folder || !Number.isInteger(number) || number < 0 || number > 65535) {
    console.error('usage: serve.mjs FOLDER [PORT]; a port is 0 (any free one) to 65535');
    process.exit(2);
  }
  try {
    console.log(addressOf(await serve({ folder, port: number })));
  } catch (error) {
    console.error(`serve: port ${port} cannot be used: ${error.code ?? error.message}`);
    process.exit(1);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
