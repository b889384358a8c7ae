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

/** The addresses of all files that the shell names. */
export async function files(origin) {
  const page = await fetchRaw(`${origin}/ui/`);
  return [...new Set(page.body.toString().match(/\/ui\/assets\/[^"]+/g))];
}

/** Bytes on the wire by kind of file. */
export async function weights(origin) {
  const totals = {};
  for (const path of await files(origin)) {
    const { body } = await fetchRaw(origin + path, { 'accept-encoding': 'br' });
    const kind = path.split('.').at(-1);
    totals[kind] = (totals[kind] ?? 0) + body.length;
  }
  return totals;
}
