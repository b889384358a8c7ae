import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

const groups = async (tool) => (await stage.server.get(`/projects/demo/tools/${tool}`)).group;

stage.story('different changes in the matrix are saved together and undone together', async (page) => {
  await page.goto('/ui/projects/demo/groups?view=matrix');
  await settled(page);
  const sent = [];
  page.on('request', (request) => {
    if (request.url().includes('/tool-changes')) sent.push(request.url());
  });
  await page.getByRole('checkbox', { name: 'read-page in writing' }).check();
  await page.getByRole('checkbox', { name: 'search-web in research' }).uncheck();
  await page.getByRole('region', { name: 'Changes that are not saved' }).getByText('2 changes').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog', { name: 'Review the change' });
  await review.getByText('2 tools would change.').waitFor();
  assert.deepEqual(await groups('read-page'), ['knowledge'], 'looking changes nothing');
  await review.getByLabel('Note').fill('moved house');
  await review.getByRole('button', { name: 'Save the change' }).click();
  await page.getByText('Changed 2 tools.').waitFor();
  assert.equal(sent.length, 2, 'one look and one change');
  assert.deepEqual(await groups('read-page'), ['knowledge', 'writing']);
  assert.deepEqual(await groups('search-web'), ['knowledge']);
  const { items } = await stage.server.get('/projects/demo/tools/search-web/revisions');
  assert.equal(items[0].note, 'moved house');

  await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByText('It is as it was before.').waitFor();
  assert.deepEqual(await groups('read-page'), ['knowledge']);
  assert.deepEqual(await groups('search-web'), ['knowledge', 'research']);
});

stage.story('what could not be undone is shown with the id of the request', { refusals: ['*'] }, async (page) => {
  await page.goto('/ui/projects/demo/groups?view=matrix');
  await settled(page);
  await page.getByRole('checkbox', { name: 'read-page in research' }).check();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog', { name: 'Review the change' }).getByRole('button', { name: 'Save the change' }).click();
  await page.getByText('Changed 1 tool.').waitFor();
  await stage.server.post('/projects/demo/tool-changes', { select: { names: ['read-page'] }, change: { enabled: false } });
  const messages = page.getByRole('region', { name: 'Messages' });
  const [refused] = await Promise.all([
    page.waitForResponse((response) => response.url().includes('/tool-changes') && response.status() === 412),
    messages.getByRole('button', { name: 'Undo' }).click(),
  ]);
  const { request_id: id } = await refused.json();
  const failure = messages.getByRole('alert').filter({ hasText: 'This could not be undone' });
  await failure.getByText(id).waitFor();
  await failure.getByRole('button', { name: 'Copy: request id' }).waitFor();
});
