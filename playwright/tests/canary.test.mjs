// What is secret is shown once, if at all, and is then nowhere in the browser.
import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { PAGES, lively } from '../support/pages.mjs';
import { ADMIN } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

/** Everything that another script on the page, or a person with the browser's tools, could read. */
const readable = (page) =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll('input, textarea')].map((field) => field.value);
    const stores = [localStorage, sessionStorage].map((store) => JSON.stringify(store));
    const names = Object.keys(window).filter((name) => typeof window[name] === 'string').map((name) => window[name]);
    return [
      document.documentElement.outerHTML,
      ...fields,
      ...stores,
      ...names,
      document.cookie,
      location.href,
      JSON.stringify(history.state),
    ].join('\n');
  });

async function assertAbsent(page, secret, where) {
  assert.ok(!(await readable(page)).includes(secret), where);
}

stage.story('the secret of a key is shown once', async (page) => {
  await page.goto('/ui/projects/demo/keys');
  await settled(page);
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog', { name: 'New key' });
  await dialog.getByLabel('Name').fill('canary agent');
  await dialog.getByRole('button', { name: 'Create the key' }).click();
  const secret = (await dialog.getByRole('region', { name: 'Key' }).textContent()).trim();
  assert.match(secret, /^tgk_/);
  const call = await stage.server.call('demo', secret, { tool: 'none', arguments: {} });
  assert.notEqual(call.status, 401, 'what is shown is the key');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /canary agent/ }).waitFor();
  await assertAbsent(page, secret, 'keys');
  await page.reload();
  await settled(page);
  await assertAbsent(page, secret, 'keys, loaded again');
});

stage.story('the value of a secret is never shown', async (page) => {
  const secret = 'canary-7f3a91-value';
  await page.goto('/ui/projects/demo/secrets');
  await settled(page);
  await page.getByRole('button', { name: 'New secret' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a secret' });
  await dialog.getByLabel('Name').fill('CANARY_KEY');
  await dialog.getByLabel('Value').fill(secret);
  assert.equal(await dialog.getByLabel('Value').getAttribute('type'), 'password');
  await dialog.getByRole('button', { name: 'Set', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /CANARY_KEY/ }).waitFor();
  await assertAbsent(page, secret, 'secrets');
  for (const it of PAGES) {
    await page.goto(lively(it));
    await settled(page);
    await assertAbsent(page, secret, it.name);
    await assertAbsent(page, ADMIN.password, it.name);
  }
});

stage.story('the password of a new user is shown once', async (page) => {
  await page.goto('/ui/users');
  await settled(page);
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('User name').fill('canary-person');
  await dialog.getByRole('button', { name: 'Create the user' }).click();
  const password = (await dialog.getByRole('region', { name: 'Password' }).textContent()).trim();
  assert.ok(password.length >= 12);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /canary-person/ }).waitFor();
  await assertAbsent(page, password, 'users');
});
