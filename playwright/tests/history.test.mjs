import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

const definition = (description) => `name: aging
type: openapi
description: ${description}
options: { http: { base_url: "https://weather.example", path: "/aging" } }
`;

stage.story('an old revision is compared and restored as a new one', async (page) => {
  const { server } = stage;
  await server.uploadTools('demo', definition('As it was.'));
  const first = await server.ask('GET', '/projects/demo/tools/aging', { headers: { accept: 'application/yaml' } });
  await server.uploadTools('demo', definition('As it is.'));
  await page.goto('/ui/projects/demo/tools/aging?tab=revisions');
  await settled(page);
  const row = page.getByRole('row').filter({ has: page.locator('.revision').getByText('1', { exact: true }) });
  await row.getByRole('button', { name: 'Compare with current' }).click();
  const difference = page.locator('section').filter({ has: page.getByRole('heading', { name: 'From revision 1 to 2' }) });
  await difference.getByText('As it was.').waitFor();
  await difference.getByText('As it is.').waitFor();

  await row.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.locator('.revision').getByText('3', { exact: true }).waitFor();
  const now = await server.ask('GET', '/projects/demo/tools/aging', { headers: { accept: 'application/yaml' } });
  assert.equal(now.body, first.body, 'restored byte by byte');
  assert.equal((await server.get('/projects/demo/tools/aging')).revision, 3, 'as a new revision');
});
