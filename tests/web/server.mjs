// The little server: types, policy, nothing outside its folder.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { host } from './harness.mjs';

// A request as it stands: fetch would tidy the path first.
function raw(address, line) {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
    let text = '';
    socket.on('data', (data) => { text += data; });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

test('files come with their types and the policy, others not at all', async () => {
  const site = await host('web', { base: '/lab/' });
  try {
    const page = await fetch(site.address);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type'), /^text\/html/);
    assert.match(page.headers.get('content-security-policy'), /default-src 'none'/);
    assert.match((await fetch(`${site.address}boot.js`)).headers.get('content-type'), /^text\/javascript/);
    const again = await fetch(site.address, { headers: { 'if-none-match': page.headers.get('etag') } });
    assert.equal(again.status, 304);
    assert.equal((await fetch(site.address, { method: 'HEAD' })).status, 200);
    assert.equal((await fetch(site.address, { method: 'POST' })).status, 405);
    assert.equal((await fetch(`${site.origin}/`)).status, 404);
    for (const path of ['/lab/../../Cargo.toml', '/lab/..%2f..%2fCargo.toml', '/lab/%2e%2e/Cargo.toml', '/lab/%00', '/lab/%', '//', '/lab/../../web-other/x']) {
      assert.match(await raw(site.address, `GET ${path}`), /^HTTP\/1.1 404/, path);
    }
  } finally {
    await site.close();
  }
});
