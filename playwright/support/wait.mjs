import assert from 'node:assert/strict';

const LIMIT_MS = 10_000;

const aMoment = () => new Promise((later) => setTimeout(later, 20));

/** Asks again and again until it is so. */
export async function until(what, isSo, limitMs = LIMIT_MS) {
  const end = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`${what} did not come within ${limitMs} ms`);
    await aMoment();
  }
}

/** Reads again and again until it is what is expected: a page needs a moment to follow a key or a click. */
export async function becomes(read, expected, what) {
  const end = Date.now() + LIMIT_MS;
  let found = await read();
  while (found !== expected && Date.now() < end) {
    await aMoment();
    found = await read();
  }
  assert.equal(found, expected, what);
}
