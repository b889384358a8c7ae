// The files of the dashboard as they travel.
import assert from 'node:assert/strict';
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

/** What each family of pages loads beside the start: the files that its loader in the glue names, its own one last. */
function families(glue) {
  const chunks = new Map();
  const all = [];
  for (const statement of glue.split('\nconst ').filter((text) => text.includes('makeLoad('))) {
    const name = statement.slice(0, statement.indexOf(' = '));
    const file = /new URL\("\.\/([^"]+)"/.exec(statement)?.[1];
    if (!name.startsWith('__wasm_split_load_')) {
      chunks.set(name, file);
    } else if (name.endsWith('_pages')) {
      const needed = /\}\n, \[([^\]]*)\]/.exec(statement)?.[1].split(', ') ?? [];
      all.push([...needed.map((chunk) => chunks.get(chunk)).filter(Boolean), file]);
    }
  }
  return all.map((files) => files.map((file) => `/ui/assets/${file}`));
}

/** What the heaviest page loads, in bytes on the wire by kind of file: the start, and the parts of its family. */
export async function weights(origin) {
  const sizes = new Map();
  for (const path of await files(origin)) {
    sizes.set(path, (await fetchRaw(origin + path, { 'accept-encoding': 'br' })).body.length);
  }
  const isPart = (path) => /\/(split_|chunk_)/.test(path);
  const totals = {};
  for (const [path, size] of sizes) {
    const kind = path.split('.').at(-1);
    if (!isPart(path)) totals[kind] = (totals[kind] ?? 0) + size;
  }
  const glue = [...sizes.keys()].find((path) => /\/app\.[^/]+\.js$/.test(path));
  const loads = families((await fetchRaw(origin + glue)).body.toString());
  assert.ok(loads.length > 0, 'the glue names the parts of families');
  const heavy = loads.map((paths) => paths.reduce((sum, path) => sum + sizes.get(path), 0));
  return { ...totals, wasm: totals.wasm + Math.max(...heavy) };
}
