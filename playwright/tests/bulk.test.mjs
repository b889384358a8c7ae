import assert from 'node:assert/strict';

import { ToolsPage } from '../pages/tools.mjs';
import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes, until } from '../support/wait.mjs';

const stage = setStage();

const NAMES = ['mass-one', 'mass-two', 'mass-three', 'mass-four'];

const definition = (name) =>
  `name: ${name}\ntype: openapi\ndescription: One of many.\ngroup: [start]\noptions: {http: {base_url: "https://weather.example", path: /x}}\n`;

async function listed(page) {
  await stage.server.createProject('mass', 'Many');
  await stage.server.uploadTools('mass', NAMES.map(definition).join('---\n'));
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

stage.story('a second look takes the place of one that is not answered yet', async (page) => {
  const tools = new ToolsPage(page);
  await tools.open('mass');
  await tools.shows(...NAMES);
  await page.getByRole('checkbox', { name: 'Select mass-one', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Select mass-two', exact: true }).check();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const dryRun = /\/tool-changes\?dry_run=true/;
  const disables = (request) => dryRun.test(request.url()) && request.postDataJSON().change.enabled === false;
  const late = page.waitForResponse((response) => disables(response.request()));
  await page.route(dryRun, async (route) => {
    if (disables(route.request())) await held;
    await route.continue();
  });
  await tools.selected.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog', { name: /^Disable/ }).waitFor();
  await page.keyboard.press('Escape');
  await tools.selected.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: /^Delete/ });
  await dialog.getByLabel('Type 2 to confirm').waitFor();
  const seen = await dialog.textContent();
  release();
  await (await late).finished();
  await settled(page);
  assert.equal(await dialog.textContent(), seen, 'the late answer is about another change');
  await page.keyboard.press('Escape');
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

stage.story('a long list has the rows in sight, and what is selected stays so', async (page) => {
  const count = 400;
  const names = Array.from({ length: count }, (_, at) => `long-${String(at).padStart(3, '0')}`);
  await stage.server.createProject('long', 'Long');
  await stage.server.uploadTools('long', names.map(definition).join('---\n'));
  const tools = new ToolsPage(page);
  await tools.open('long');
  await page.locator('.count').getByText(`${count} tools`).waitFor();
  const first = page.locator('.long-body .select-row').first();
  const name = await first.getAttribute('aria-label');
  await first.check();
  await tools.selected.getByText('1 tool').waitFor();

  const to = (part) => page.evaluate((share) => scrollTo(0, share * document.documentElement.scrollHeight), part);
  const rows = () =>
    page.locator('.long-body > [role=row]').evaluateAll((all) =>
      all.map((row) => ({
        at: Number(row.getAttribute('aria-rowindex')) - 2,
        top: row.getBoundingClientRect().top,
        name: row.querySelector('.tool-name')?.textContent,
      })),
    );
  await to(0.5);
  await until('the rows in the middle', async () => {
    const shown = await rows();
    const seen = shown.filter(({ top }) => top > 0 && top < 800);
    return seen.length > 5 && seen.every(({ at, name: tool }) => tool === names[at]);
  });
  const there = await rows();
  assert.ok(there.length < 60, `${there.length} rows are on the page`);
  assert.deepEqual(there.map(({ at }) => at), there.map((_, step) => there[0].at + step), 'one row after the other');
  const height = there[1].top - there[0].top;
  assert.ok(there.every(({ top }, step) => Math.abs(top - there[0].top - step * height) < 1), 'rows have one height');
  assert.equal(await page.locator('.long-body .select-row:checked').count(), 0);

  await to(0);
  await page.getByRole('checkbox', { name, exact: true }).waitFor();
  assert.ok(await page.getByRole('checkbox', { name, exact: true }).isChecked());
  await tools.selected.getByRole('button', { name: /^Clear/ }).click();
  await becomes(() => page.getByRole('checkbox', { name, exact: true }).isChecked(), false);
});
