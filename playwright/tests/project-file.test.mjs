// A project as one file: exported, previewed, and imported into a new project.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { assertAccessible } from '../support/axe.mjs';
import { keepPicture } from '../support/pictures.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

const IMPORT = { refusals: ['/projects/brought-along/import'] };

stage.story('a project is exported and imported into a new one after a preview', IMPORT, async (page) => {
  const { server } = stage;
  await page.goto('/ui/projects/demo/settings');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export', exact: true }).click();
  const file = await (await download).path();
  const text = await readFile(file, 'utf8');
  assert.match(text, /^toolgate_project: 1\n/);

  await page.goto('/ui/projects');
  await page.getByRole('button', { name: 'New project' }).click();
  const dialog = page.getByRole('dialog', { name: 'New project' });
  await dialog.getByLabel('Name').fill('Brought along');
  await dialog.getByLabel('Continue with importing a file').check();
  await dialog.getByRole('button', { name: 'Create the project' }).click();
  await page.waitForURL(/\/projects\/brought-along\/upload\?view=project$/);

  const section = page.getByRole('region', { name: 'Import a file' });
  const choose = () =>
    section.locator('input[type=file]').setInputFiles({ name: 'demo.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) });
  await choose();
  await section.getByRole('heading', { name: 'What importing would do' }).waitFor();
  await section.getByText(/^Tools \(\d+\)$/).waitFor();
  assert.equal((await server.get('/projects/brought-along/tools')).total, 0, 'only a preview');
  await assertAccessible(page);
  for (const width of [320, 390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `at ${width}`);
    await section.scrollIntoViewIfNeeded();
    await keepPicture(page, `project-import-preview-${width}`);
  }
  await section.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText(/^Imported \d+ changes\.$/).waitFor();
  const there = (await server.get('/projects/demo/tools')).total;
  assert.equal((await server.get('/projects/brought-along/tools')).total, there);

  await choose();
  await section.getByText(/^0 new, 0 changed, \d+ unchanged/).waitFor();
  await section.locator('input[type=file]').setInputFiles({
    name: 'wrong.yaml',
    mimeType: 'application/yaml',
    buffer: Buffer.from('toolgate_project: 1\ngroups: {a: {descripton: x}}\n'),
  });
  await section.getByText(/unknown field/).waitFor();
  await server.ask('DELETE', '/projects/brought-along', { headers: { 'If-Match': '*' } });
});
