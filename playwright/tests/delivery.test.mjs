import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startSeeded } from '../support/server.mjs';
import { fetchRaw, files, weights } from '../support/weight.mjs';

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
  const limits = { wasm: 450_000, js: 25_000, css: 20_000, svg: 5_000 };
  const found = await files(server.origin);
  for (const kind of ['app_bg', 'app', 'boot', 'main', 'theme', 'favicon', 'split_']) {
    assert.ok(found.some((path) => path.startsWith(`/ui/assets/${kind}`)), `${kind} in ${found}`);
  }
  for (const path of found) {
    const kind = path.split('.').at(-1);
    const { status, headers } = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    assert.equal(status, 200, path);
    assert.equal(headers['content-encoding'], 'br', path);
    assert.match(headers.vary, /accept-encoding/i);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    if (kind === 'wasm') assert.equal(headers['content-type'], 'application/wasm');

    assert.equal((await get(path, { 'accept-encoding': 'gzip' })).headers['content-encoding'], 'gzip');
    assert.equal((await get(path)).headers['content-encoding'], undefined);
  }
  for (const [kind, weight] of Object.entries(await weights(server.origin))) {
    assert.ok(weight <= limits[kind], `${weight} bytes of ${kind} on the heaviest page`);
  }
});

test('people get pages for what is not there, programs get problems', async () => {
  const asPerson = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const page = await get('/nowhere', asPerson);
  assert.equal(page.status, 404);
  assert.match(page.headers['content-type'], /^text\/html/);
  assert.match(page.headers['content-security-policy'], /default-src 'none'/);
  const problem = await get('/nowhere', { accept: 'application/json' });
  assert.equal(problem.status, 404);
  assert.equal(problem.headers['content-type'], 'application/problem+json');
  const turned = await get('/<script>alert(1)</script>', asPerson);
  assert.doesNotMatch(turned.body.toString(), /<script>alert/);
});

test('an unknown file is not there, and no cache remembers that', async () => {
  const { status, headers } = await get('/ui/assets/app.0000000000000000.js');
  assert.equal(status, 404);
  assert.equal(headers['cache-control'], 'no-store');
});
