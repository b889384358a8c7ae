import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startSeeded } from '../support/server.mjs';
import { fetchRaw, files } from '../support/weight.mjs';

let server;
before(async () => {
  server = await startSeeded();
});
after(() => server?.stop());

const get = (path, headers) => fetchRaw(server.origin + path, headers);

test('pages carry the protecting headers', async () => {
  for (const path of ['/ui/', '/ui/sign-in', '/ui/projects/demo/tools']) {
    const { status, headers } = await get(path);
    assert.equal(status, 200, path);
    const policy = headers['content-security-policy'];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:|\*/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cache-control'], 'no-store');
  }
});

test('the root leads to the dashboard', async () => {
  const { status, headers } = await get('/');
  assert.equal(status, 307);
  assert.equal(headers.location, '/ui/');
});

test('files are compressed beforehand, may be kept, and stay within their weights', async () => {
  const limits = { wasm: 350_000, js: 25_000, css: 20_000, svg: 5_000 };
  const found = await files(server.origin);
  assert.equal(found.length, 6, found.join());
  for (const path of found) {
    const kind = path.split('.').at(-1);
    const { status, headers, body } = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    assert.equal(status, 200, path);
    assert.equal(headers['content-encoding'], 'br', path);
    assert.match(headers.vary, /accept-encoding/i);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.ok(body.length <= limits[kind], `${path}: ${body.length} bytes`);
    if (kind === 'wasm') assert.equal(headers['content-type'], 'application/wasm');

    assert.equal((await get(path, { 'accept-encoding': 'gzip' })).headers['content-encoding'], 'gzip');
    assert.equal((await get(path)).headers['content-encoding'], undefined);
  }
});

test('an unknown file is not there, and nobody remembers that', async () => {
  const { status, headers } = await get('/ui/assets/app.0000000000000000.js');
  assert.equal(status, 404);
  assert.equal(headers['cache-control'], 'no-store');
});
