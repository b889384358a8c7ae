// Grants that are not used are removed with one click and brought back; what tools cost a model is shown.
import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { keepPicture } from '../support/pictures.mjs';
import { setStage } from '../support/stage.mjs';
import { until } from '../support/wait.mjs';

const stage = setStage();

stage.story('groups that are not used are removed from a grant, and come back', async (page) => {
  const { server } = stage;
  const key = await server.createKey('demo', 'sleeping agent', ['knowledge', 'writing']);
  const principal = `service_key:${key.id}`;
  const held = async () => (await server.get(`/projects/demo/permissions/${principal}`)).groups.map(({ group }) => group);
  await page.goto('/ui/projects/demo/permissions?view=unused');
  await page.getByText('Every grant is in use').waitFor();
  await assertAccessible(page);

  // Nothing is 90 days old here, so the list is made up; what it leads to is not.
  const grant = await server.ask('GET', `/projects/demo/permissions/${principal}`);
  await page.route('**/permissions/unused', (route) => {
    const { role, groups } = grant.body;
    const item = {
      principal,
      kind: 'service_key',
      name: 'sleeping agent',
      unused: [{ group: 'writing', last_used_at: '2026-01-01T00:00:00Z' }],
      grant: { role, groups },
      granted_at: '2025-12-01T00:00:00Z',
      etag: grant.headers.get('etag'),
    };
    const items = groups.length > 1 ? [item] : [];
    return route.fulfill({ json: { since: '2026-01-01T00:00:00Z', items, more: false } });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Remove writing from sleeping agent' }).waitFor();
  await assertAccessible(page);
  for (const width of [320, 390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `at ${width}`);
    await keepPicture(page, `unused-grants-${width}`);
  }
  await page.getByRole('button', { name: 'Remove writing from sleeping agent' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Removed writing from sleeping agent.').waitFor();
  assert.deepEqual(await held(), ['knowledge']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await until('the grant as it was', async () => (await held()).length === 2);
});

stage.story('tools and groups say what they cost a model, and groups warn of many tools', async (page) => {
  const { server } = stage;
  const { tokens } = await server.get('/projects/demo/tools/look-up');
  await page.goto('/ui/projects/demo/tools/look-up');
  await page.getByText(`about ${tokens}, `).waitFor();
  await page.route('**/groups?*', async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    body.items[0].listed_tools = 41;
    body.items[1].listed_tools = 129;
    return route.fulfill({ response: answer, json: body });
  });
  await page.goto('/ui/projects/demo/groups');
  await page.getByText('41 tools, more than 40').waitFor();
  await page.getByText('129 tools, more than 128').waitFor();
  await assertAccessible(page);
  for (const width of [320, 390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `at ${width}`);
    await keepPicture(page, `group-tokens-${width}`);
  }
});
