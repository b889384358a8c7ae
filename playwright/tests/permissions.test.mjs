import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { signedInMember } from '../support/people.mjs';
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

stage.story('a member is added by name, with the groups of the project to choose from', async (page) => {
  const { server } = stage;
  await server.post('/users', { username: 'newcomer', password: 'a quiet river at noon' });
  await page.goto('/ui/projects/demo/permissions');
  await page.getByRole('button', { name: 'Add a member' }).click();
  const adding = page.getByRole('dialog', { name: 'Add a member' });
  const field = adding.getByLabel('User', { exact: true });
  await field.fill('newly');
  await adding.getByText('No user has this text in the name.').waitFor();
  const make = adding.getByRole('link', { name: 'Make the user newly' });
  assert.equal(await make.getAttribute('href'), '/ui/users?new=newly&project=demo');
  await assertAccessible(page);

  await field.fill('newco');
  await adding.getByRole('listitem').filter({ hasText: 'newcomer' }).getByRole('button', { name: 'Choose' }).click();
  const drawer = page.getByRole('dialog', { name: 'newcomer', exact: true });
  await drawer.getByText('There is no grant in this project yet.').waitFor();
  const group = drawer.getByLabel('Add a group');
  await group.focus();
  await drawer.locator('datalist option[value="knowledge"]').waitFor({ state: 'attached' });
  await assertAccessible(page);
  for (const name of ['knowledge', 'writing']) {
    await group.fill(name);
    await group.press('Enter');
  }
  assert.equal(await drawer.getByLabel('Groups').inputValue(), 'knowledge\nwriting');
  // That no request was refused on the way is checked with the console.
  await drawer.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The grant is in force.').waitFor();
  await page.getByRole('button', { name: 'newcomer', exact: true }).click();
  await drawer.getByRole('button', { name: 'Remove the grant' }).waitFor();
  assert.equal(await drawer.getByLabel('Groups').inputValue(), 'knowledge\nwriting');
});

stage.story('who may not make users is led to those who may', async () => {
  const { storageState } = await signedInMember(stage, 'owner-alone', 'owner');
  const context = await stage.browser.newContext({ storageState, baseURL: stage.server.origin });
  const page = await context.newPage();
  await page.goto('/ui/projects/demo/permissions');
  await page.getByRole('button', { name: 'Add a member' }).click();
  const adding = page.getByRole('dialog', { name: 'Add a member' });
  await adding.getByLabel('User', { exact: true }).fill('newly');
  await adding.getByText('A system administrator can make one.').waitFor();
  assert.equal(await adding.getByRole('link').count(), 0);
  await context.close();
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
