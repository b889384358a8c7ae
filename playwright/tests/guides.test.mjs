// Guides are written with a preview, read, changed and removed.
import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { assertGoodInEveryLook } from '../support/looks.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';
import { writeInto } from '../pages/editor.mjs';

const stage = setStage();

stage.story('a guide is written with a preview, read, changed and removed', async (page) => {
  await page.goto('/ui/projects/demo/guides');
  await settled(page);
  await page.getByRole('button', { name: 'New guide' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New guide' });
  await dialog.getByLabel('Id').fill('searching');
  await dialog.getByLabel('Summary').fill('How to search');
  await dialog.getByLabel('About').selectOption('group');
  await dialog.getByLabel('Its name').fill('knowledge');
  const hostile = '<img src=x onerror="document.title=1"> [a](javascript:alert(1))';
  await writeInto(dialog.getByLabel('Text in Markdown'), `# Searching\n\nCall **look-up** first.\n\n${hostile}`);
  const preview = dialog.getByRole('region', { name: 'Preview' });
  await preview.getByRole('heading', { name: 'Searching' }).waitFor();
  assert.equal(await preview.locator('img, a').count(), 0, 'nothing of it is HTML');
  await assertGoodInEveryLook(page, 'a guide that is written');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /searching/ });
  await row.getByText('Group knowledge').waitFor();

  await row.getByRole('button', { name: 'Read' }).click();
  await page.getByRole('dialog', { name: 'searching' }).getByText('look-up').waitFor();
  await page.keyboard.press('Escape');
  await row.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit searching' });
  await becomes(() => edit.getByLabel('Summary').inputValue(), 'How to search', 'it is loaded');
  await edit.getByLabel('Summary').fill('How to search well');
  await edit.getByRole('button', { name: 'Save' }).click();
  await row.getByText('How to search well').waitFor();
  const stored = await stage.server.get('/projects/demo/guides/searching');
  assert.equal(stored.group, 'knowledge');
  assert.match(stored.text, /^# Searching/);
  await assertGoodInEveryLook(page, 'guides');

  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog', { name: 'Remove searching?' }).getByRole('button', { name: 'Remove the guide' }).click();
  await page.getByRole('heading', { name: 'No guides yet' }).waitFor();
});

stage.story('a tool leads to the guides about it, and a guide to its tools', async (page) => {
  const { server } = stage;
  const about = { general: {}, looking: { group: 'knowledge' }, pets: { source: 'petstore' }, other: { group: 'unheard-of' } };
  for (const [id, of] of Object.entries(about)) {
    await server.put(`/projects/demo/guides/${id}`, { summary: `About ${id}`, text: `# All about ${id}`, ...of }, { 'if-none-match': '*' });
  }
  const guides = page.locator('aside').getByRole('link', { name: /^(general|looking|pets|other)$/ });
  const found = async () => (await guides.allTextContents()).join(', ');
  await page.goto('/ui/projects/demo/tools/getPet');
  await becomes(found, 'general, pets', 'those of the project and the import');
  await page.goto('/ui/projects/demo/tools/look-up');
  await becomes(found, 'general, looking', 'those of the project and the group');
  await assertAccessible(page);

  await guides.filter({ hasText: 'looking' }).click();
  const dialog = page.getByRole('dialog', { name: 'looking' });
  await dialog.getByRole('heading', { name: 'All about looking' }).waitFor();
  await assertAccessible(page);
  await dialog.getByRole('link', { name: 'Group knowledge' }).click();
  await page.waitForURL('**/tools?group=knowledge');
  await page.getByRole('link', { name: 'look-up', exact: true }).waitFor();
  await page.goBack();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.waitForURL((address) => !address.searchParams.has('guide'));
  const href = await page.getByRole('link', { name: 'Import petstore' }).getAttribute('href');
  assert.equal(href, '/ui/projects/demo/imports/petstore');
});
