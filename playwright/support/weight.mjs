// The files of the dashboard as they travel.
import { get } from 'node:http';

import { PAGES, lively } from './pages.mjs';

/** Asks like a browser, but shows the body as it travels. */
export function fetchRaw(url, headers = {}) {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
  });
}

/** The addresses of all files: what the page of every path names. */
export async function files(origin) {
  const named = await Promise.all(PAGES.map((page) => filesOfPage(origin, lively(page))));
  return [...new Set(named.flat())];
}

/** The files that a page names: it loads no others. */
async function filesOfPage(origin, path) {
  const page = (await fetchRaw(origin + path)).body.toString();
  return page.match(/\/ui\/assets\/[^"]+/g);
}

/** What the heaviest page loads, in bytes on the wire by kind of file. */
export async function weights(origin) {
  const sizes = new Map();
  for (const path of await files(origin)) {
    sizes.set(path, (await fetchRaw(origin + path, { 'accept-encoding': 'br' })).body.length);
  }
  const heaviest = {};
  for (const page of PAGES) {
    const totals = {};
    for (const path of await filesOfPage(origin, lively(page))) {
      // Small modules come packed in one file.
      const kind = path.split('.').at(-1).replace('bin', 'wasm');
      totals[kind] = (totals[kind] ?? 0) + sizes.get(path);
    }
    for (const [kind, total] of Object.entries(totals)) heaviest[kind] = Math.max(heaviest[kind] ?? 0, total);
  }
  return heaviest;
}
