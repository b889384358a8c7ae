import assert from 'node:assert/strict';

import { ToolsPage } from '../pages/tools.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const NAMES = ['mass-one', 'mass-two', 'mass-three', 'mass-four'];

async function listed(page) {
  await stage.server.createProject('mass', 'Many');
  await stage.server.uploadTools(
    'mass',
    NAMES.map((name) => `name: ${name}\ntype: openapi\ndescription: One of many.\ngroup: [start]\noptions: {http: {base_url: "https://weather.example", path: /x}}\n`).join('---\n'),
  );
  const tools = new ToolsPage(page);
  await tools.open('mass');
  await tools.shows(...NAMES);
  return tools;
}

const all = async () => (await stage.server.get('/projects/mass/tools')).items;

stage.story('many are changed at once after a look, and it can be undone', async (page) => {
  const tools = await listed(page);
  await page.getByRole('checkbox', { name: 'Select all tools that are listed' }).check();
  await tools.selected.getByText('4 tools').waitFor();
  await tools.selected.getByRole('button', { name: 'Add groups' }).click();
  const dialog = page.getByRole('dialog', { name: /^Add groups/ });
  await dialog.getByLabel(/group/i).first().fill('extra');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText('4 tools would change.').waitFor();
  assert.ok((await all()).every((tool) => !tool.group.includes('extra')), 'looking changes nothing');
  await dialog.getByRole('button', { name: 'Add groups (4)' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('extra').first().waitFor();
  assert.ok((await all()).every((tool) => tool.group.includes('extra')));
  await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByText('extra').first().waitFor({ state: 'detached' });
  assert.ok((await all()).every((tool) => !tool.group.includes('extra')));
});

stage.story('deleting many asks for their number, and it can be undone', async (page) => {
  const tools = new ToolsPage(page);
  await tools.open('mass');
  await tools.shows(...NAMES);
  await page.getByRole('checkbox', { name: 'Select mass-one', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Select mass-two', exact: true }).check();
  await tools.selected.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: /^Delete/ });
  const confirm = dialog.getByRole('button', { name: 'Delete (2)' });
  await dialog.getByLabel('Type 2 to confirm').waitFor();
  await becomes(() => confirm.isDisabled(), true);
  await dialog.getByLabel('Type 2 to confirm').fill('2');
  await confirm.click();
  await dialog.waitFor({ state: 'hidden' });
  await tools.shows('mass-four', 'mass-three');
  await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click();
  await tools.shows(...NAMES);
});
