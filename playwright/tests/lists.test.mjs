// What every list can do: search, several rows at once, a file for spreadsheets. And the project itself.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();
const rowsOf = (page) => page.getByRole('row').filter({ has: page.getByRole('cell') });

stage.story('keys are searched, revoked together and downloaded', async (page) => {
  for (const name of ['spare one', 'spare two']) await stage.server.createKey('demo', name, []);
  await page.goto('/ui/projects/demo/keys');
  const before = (await stage.server.get('/projects/demo/keys')).items.length;
  await becomes(() => rowsOf(page).count(), before, 'all keys');
  await page.getByRole('searchbox', { name: 'Search keys' }).fill('SPARE');
  await becomes(() => rowsOf(page).count(), 2, 'those that are searched for');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV of all keys' }).click();
  const text = await readFile(await (await download).path(), 'utf8');
  const lines = text.trim().split('\r\n');
  assert.equal(lines.length, 3, text);
  assert.match(lines[0], /"name"/);
  assert.ok(lines.slice(1).every((line) => line.includes('spare')), text);
  await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
  await page.getByRole('button', { name: 'Revoke', exact: true }).last().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke 2 keys' }).click();
  await page.getByText('Revoke: 2 keys done.').waitFor();
  const { items } = await stage.server.get('/projects/demo/keys?q=spare');
  assert.ok(items.every((key) => key.revoked_at));
});

stage.story('groups are picked from what exists', async (page) => {
  await page.goto('/ui/projects/demo/keys?new=1');
  const field = page.getByLabel('Groups');
  await field.fill('writing, know');
  const offered = () => page.locator('#key-groups-names option').evaluateAll((all) => all.map((one) => one.value));
  await becomes(async () => (await offered()).includes('writing, knowledge'), true, 'the rest stays');
});

stage.story('a project is renamed and deleted', async (page) => {
  await stage.server.createProject('short-lived', 'For a while');
  await page.goto('/ui/projects/short-lived/settings');
  await page.getByLabel('Name of the project').fill('For an hour');
  await page.getByRole('button', { name: 'Rename the project' }).click();
  await page.getByRole('button', { name: /^For an hour.*switch project$/ }).waitFor();
  assert.equal((await stage.server.get('/projects/short-lived')).name, 'For an hour');
  await page.getByRole('button', { name: 'Delete the project' }).click();
  const dialog = page.getByRole('dialog');
  const button = dialog.getByRole('button', { name: 'Delete the project' });
  assert.equal(await button.isDisabled(), true);
  await dialog.getByLabel(/^Type short-lived/).fill('short-lived');
  await button.click();
  await page.waitForURL(/\/ui\/projects$/);
  const { items } = await stage.server.get('/projects');
  assert.ok(items.every(({ id }) => id !== 'short-lived'));
});
