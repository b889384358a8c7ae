import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

stage.story('what happens appears in the open page; a pause holds it still', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'followed agent', ['knowledge']);
  const call = (word) =>
    server.call('demo', agent.secret, { tool: 'look-up', group: ['knowledge'], arguments: { word } });
  const rows = page.getByRole('row').filter({ hasText: 'followed agent' });
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  await page.getByRole('button', { name: 'Follow live' }).click();
  await page.getByText('live', { exact: true }).waitFor();
  assert.equal(await rows.count(), 0);
  await page.evaluate(() => (window.sameDocument = true));

  await call('first');
  // A record is there from the decision on, and says how the call ended when it has.
  await rows.filter({ hasText: /look-up.*Succeeded/is }).waitFor();
  await server.call('demo', agent.secret, { tool: 'publish', group: ['writing'], arguments: {} });
  await rows.nth(1).waitFor();
  assert.match(await rows.first().textContent(), /publish.*denied.*insufficient_tool_groups/is, 'the newest is on top');
  assert.equal(await page.evaluate(() => window.sameDocument), true, 'nothing was loaded again');

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  const table = page.getByRole('table', { name: 'Records as they are written' });
  const still = await table.textContent();
  await call('second');
  const news = page.getByRole('button', { name: '1 new' });
  await news.waitFor();
  assert.equal(await table.textContent(), still, 'nothing moves');
  await news.click();
  await rows.nth(2).waitFor();
  await page.getByText('live', { exact: true }).waitFor();
  await news.waitFor({ state: 'hidden' });
  await call('third');
  await rows.nth(3).waitFor();

  await page.getByRole('button', { name: 'Stop following' }).click();
  await page.getByRole('button', { name: 'Follow live' }).waitFor();
  await settled(page);
  await becomes(() => rows.count(), 4, 'the list has it all');
});

stage.story('a refusal tells why, and leads to the simulator or the session', async (page) => {
  await page.goto('/ui/projects/demo/records?outcome=denied&tool=publish');
  await settled(page);
  await page.locator('[data-row]').first().click();
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByText('insufficient_tool_groups').waitFor();
  await record.getByText('Missing', { exact: true }).waitFor();
  assert.match(await record.getByRole('link', { name: 'Why?' }).getAttribute('href'), /\/simulator\?principal=.*tool=publish/);
  await page.waitForURL((address) => address.searchParams.has('record'));
  await page.keyboard.press('Escape');
  await record.waitFor({ state: 'hidden' });
  await page.waitForURL((address) => !address.searchParams.has('record'));
  await page.goBack();
  await record.getByText('insufficient_tool_groups').waitFor();
  await record.getByRole('link', { name: 'Why?' }).click();
  await page.getByRole('heading', { name: 'Simulator', level: 1 }).waitFor();
});

stage.story('filters are in the address, and the export follows them', async (page) => {
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  await page.getByLabel('Outcome').selectOption('failed');
  await page.waitForURL('**?*outcome=failed*');
  const rows = page.getByRole('row').filter({ hasText: 'break-down' });
  await page.getByRole('row').filter({ hasText: 'publish' }).first().waitFor({ state: 'detached' });
  await rows.first().waitFor();
  await page.reload();
  await rows.first().waitFor();
  await becomes(() => page.getByLabel('Outcome').inputValue(), 'failed');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'JSONL' }).click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(lines.length > 0 && lines.every((line) => line.outcome === 'failed'), JSON.stringify(lines.map((line) => line.outcome)));
});

stage.story('who called is among the first filters, and each export has a name of its own', async (page) => {
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  const who = page.getByLabel('Who', { exact: true });
  assert.ok(await who.isVisible());
  await who.fill('reading agent');
  await who.press('Enter');
  await page.waitForURL('**?*principal_name=reading*');
  assert.equal(await page.getByLabel('Entrance').isVisible(), false, 'the further filters stay closed');
  await settled(page);
  const exports = page.locator('main').locator('a, button').filter({ hasText: /CSV|JSONL/ });
  assert.deepEqual(await exports.allTextContents(), ['Export JSONL', 'Export CSV']);
});

stage.story('a result that is kept whole is reached from its record', async (page) => {
  const { server, upstream } = stage;
  const whole = { words: Array.from({ length: 400 }, (_, at) => `word ${at}`) };
  upstream.documents.set('/glossary', JSON.stringify(whole));
  await server.uploadTools(
    'demo',
    `name: glossary\ntype: openapi\ndescription: All words.\ngroup: [knowledge]\noptions: {http: {base_url: "${upstream.origin}", path: /glossary, result: {max_bytes: 1024, beyond: keep}}}\n`,
  );
  const { body } = await server.call('demo', server.token, { tool: 'glossary', group: ['knowledge'], arguments: {} });
  assert.ok(body.notes.artifact.bytes > 1024, JSON.stringify(body.notes));
  await page.goto(`/ui/projects/demo/records?record=${body.call_id}`);
  const record = page.getByRole('dialog', { name: 'Record' });
  const downloading = page.waitForEvent('download');
  await record.getByRole('link', { name: body.notes.artifact.id }).click();
  const path = await (await downloading).path();
  assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), whole);
});

stage.story('what concerns no single project is on the record of the server', async (page) => {
  await stage.server.post('/users', { username: 'recorded', password: 'a quiet river at noon' });
  await page.goto('/ui/projects');
  await settled(page);
  await page.getByRole('link', { name: 'Server record' }).click();
  await page.getByRole('heading', { name: 'Server record', level: 1 }).waitFor();
  const row = page.getByRole('row').filter({ hasText: 'access' }).first();
  await row.getByRole('button').click();
  await page.waitForURL('**record=**');
  const drawer = page.getByRole('dialog', { name: 'Record' });
  await drawer.getByText('Outcome').waitFor();
  await page.reload();
  await drawer.getByText('Outcome').waitFor();
  await page.goto('/ui/server-record?outcome=denied');
  await page.getByRole('heading', { name: 'Nothing recorded' }).waitFor();
  await page.goto('/ui/server-record?record=00000000-0000-7000-8000-000000000000');
  await drawer.getByText('There is no such record.').waitFor();
});

stage.story('filters are picked from what is there', async (page) => {
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  await page.getByText('More filters').click();
  const tool = page.getByLabel('Tool', { exact: true });
  await tool.focus();
  await page.locator('#filter-tool-choices option[value="look-up"]').waitFor({ state: 'attached' });
  await tool.fill('look-up');
  await tool.press('Enter');
  await page.waitForURL('**?*tool=look-up*');
  await page.getByLabel('State', { exact: true }).focus();
  await page.locator('#filter-state-choices option[value="found"]').waitFor({ state: 'attached' });
  await page.getByLabel('Who', { exact: true }).focus();
  await page.locator('#filter-principal-choices option').first().waitFor({ state: 'attached' });
  await page.getByLabel('At most ms').fill('600000');
  await page.getByLabel('At most ms').press('Enter');
  await page.waitForURL('**max_duration_ms=600000*');
  await page.locator('[data-row]').first().waitFor();
  await page.getByLabel('Address').fill('192.0.2.99');
  await page.getByLabel('Address').press('Enter');
  await page.getByRole('heading', { name: 'Nothing recorded' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('[data-row]').first().waitFor();
});

stage.story('columns are chosen and kept', async (page) => {
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  await page.getByRole('button', { name: 'Columns of the list' }).click();
  await page.getByRole('checkbox', { name: 'Entrance' }).check();
  await page.getByRole('checkbox', { name: 'State' }).uncheck();
  const heads = async () => (await page.getByRole('columnheader').allTextContents()).join();
  await becomes(heads, 'When,What,Who,Outcome,Entrance');
  await page.waitForURL('**columns=*');
  await page.goto('/ui/projects/demo/records');
  await becomes(heads, 'When,What,Who,Outcome,Entrance', 'the browser remembers them');
});

stage.story('a view is saved, opened and deleted', async (page) => {
  await page.goto('/ui/projects/demo/records?outcome=denied&from=now-7d');
  await settled(page);
  const views = page.getByRole('button', { name: 'Views of the record' });
  await views.click();
  await page.getByText('No views are saved yet.').waitFor();
  await page.getByRole('button', { name: 'Save this view' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByLabel('Name').fill('Refusals');
  await dialog.getByLabel('Show it to everyone who may read the record').check();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  await views.click();
  await page.getByRole('link', { name: 'Refusals' }).click();
  await page.waitForURL('**?*outcome=denied*');
  await page.getByRole('button', { name: 'Last 7 days: range of time' }).waitFor();
  const { items } = await stage.server.get('/projects/demo/saved-views');
  assert.deepEqual(items.map(({ name, shared }) => ({ name, shared })), [{ name: 'Refusals', shared: true }]);
  await views.click();
  await page.getByRole('button', { name: 'Delete the view Refusals' }).click();
  await page.getByText('No views are saved yet.').waitFor();
});

stage.story('a record leads to those like it, and to the same call with curl', async (page) => {
  await page.goto('/ui/projects/demo/records?tool=break-down&action=call');
  await page.locator('[data-row]').first().click();
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByRole('link', { name: 'More like this' }).click();
  await page.waitForURL((address) => address.searchParams.get('code') !== null && address.searchParams.get('tool') === 'break-down');
  await page.locator('[data-row]').first().waitFor();
});
