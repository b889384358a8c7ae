import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { until } from '../support/wait.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

stage.story('what is granted and taken in the browser is what an agent may do at once', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'changing agent', ['writing']);
  const attempt = () => server.call('demo', agent.secret, { tool: 'look-up', group: ['knowledge'], arguments: { word: 'gate' } });
  const setGroups = async (lines) => {
    await page.goto('/ui/projects/demo/permissions');
    await page.getByRole('button', { name: 'changing agent' }).click();
    const drawer = page.getByRole('dialog', { name: 'changing agent' });
    await drawer.getByLabel('Groups').waitFor();
    await settled(page);
    await drawer.getByLabel('Groups').fill(lines);
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The grant is in force.').waitFor();
  };
  const before = await attempt();
  assert.equal(before.status, 403);
  assert.equal(before.body.code, 'insufficient_tool_groups');

  await setGroups('knowledge\nwriting');
  await until('the permitted call', async () => (await attempt()).body.status === 'succeeded');

  await setGroups('writing');
  await until('the refusal', async () => (await attempt()).body.code === 'insufficient_tool_groups');
});

stage.story('a key that is revoked opens nothing at once', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'leaving agent', ['knowledge']);
  const attempt = () => server.call('demo', agent.secret, { tool: 'look-up', group: ['knowledge'], arguments: { word: 'gate' } });
  assert.equal((await attempt()).status, 200);
  await page.goto('/ui/projects/demo/keys');
  await page.getByRole('row', { name: /leaving agent/ }).getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('leaving agent was revoked').waitFor();
  await until('the refusal', async () => (await attempt()).status === 401);
});
