// The files of the dashboard as they travel.
import { get } from 'node:http';

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

/** The addresses of all files: those that the shell names, and the parts of the module that its glue names. */
export async function files(origin) {
  const shell = (await fetchRaw(`${origin}/ui/`)).body.toString();
  const named = shell.match(/\/ui\/assets\/[^"]+/g);
  const glue = named.find((path) => /\/app\.[^/]+\.js$/.test(path));
  const script = (await fetchRaw(origin + glue)).body.toString();
  const parts = [...script.matchAll(/"\.\/([\w.-]+\.wasm)"/g)].map(([, name]) => `/ui/assets/${name}`);
  return [...new Set([...named, ...parts])];
}

/** What the heaviest page loads, in bytes on the wire by kind of file. A page loads one of the parts that are `split_`. */
export async function weights(origin) {
  const totals = {};
  let heaviest = 0;
  for (const path of await files(origin)) {
    const size = (await fetchRaw(origin + path, { 'accept-encoding': 'br' })).body.length;
    const kind = path.split('.').at(-1);
    if (path.includes('/split_')) heaviest = Math.max(heaviest, size);
    else totals[kind] = (totals[kind] ?? 0) + size;
  }
  return { ...totals, wasm: totals.wasm + heaviest };
}
