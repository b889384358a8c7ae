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
  const make = adding.getByRole('link', { name: 'Create the user newly' });
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

/** Fills the form of a new user with a name, a project and groups, and sends it; the dialog then has the password. */
async function makeMember(page, { name, project, groups }) {
  const dialog = page.getByRole('dialog', { name: 'New user' });
  await dialog.getByLabel('User name').fill(name);
  await dialog.getByLabel('Project', { exact: true }).selectOption(project);
  await dialog.getByLabel('Role').selectOption({ label: 'Viewer: reads definitions' });
  await dialog.getByLabel('Groups').fill(groups.join('\n'));
  await assertAccessible(page);
  await dialog.getByRole('button', { name: 'Create the user' }).click();
  await dialog.getByRole('region', { name: 'Password' }).waitFor();
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('row').filter({ hasText: name }).waitFor();
}

/** What a user is granted in a project, once they are. */
async function granted(project, name) {
  const { server } = stage;
  const { items } = await server.get(`/users?q=${name}`);
  const path = `/projects/${project}/permissions/${encodeURIComponent(items[0].principal)}`;
  let found;
  await until('the grant', async () => {
    const { status, body } = await server.ask('GET', path);
    found = body;
    return status === 200;
  });
  return [found.role, found.groups.map(({ group }) => group)];
}

stage.story('a user is made and becomes a member of the project that led there', async (page) => {
  await page.goto('/ui/users?new=both&project=demo');
  const dialog = page.getByRole('dialog', { name: 'New user' });
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel('User name').inputValue(), 'both');
  assert.equal(await dialog.getByLabel('Project', { exact: true }).inputValue(), 'demo');
  await makeMember(page, { name: 'both', project: 'demo', groups: ['knowledge', 'writing'] });
  assert.deepEqual(await granted('demo', 'both'), ['viewer', ['knowledge', 'writing']]);
  assert.ok(!/new=|project=/.test(page.url()), 'a reload does not open the form again');
});

const REFUSED = { refusals: ['*'] };

stage.story('a grant that is refused leaves the user, and can be made later', REFUSED, async (page) => {
  const { server } = stage;
  // A project that is not there yet can come by the link only.
  await page.goto('/ui/users?new=early&project=later');
  await makeMember(page, { name: 'early', project: 'later', groups: ['knowledge'] });
  const refused = page.getByRole('region', { name: 'The grant' });
  await refused.getByText('The user early was made, but not the grant in later.').waitFor();
  const link = refused.getByRole('link', { name: 'Grant it in the permissions of the project' });
  assert.match(await link.getAttribute('href'), /^\/ui\/projects\/later\/permissions\?principal=user%3A/);
  await assertAccessible(page);
  await server.createProject('later', 'Later');
  await refused.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The grant is in force.').waitFor();
  assert.equal(await refused.count(), 0);
  assert.deepEqual(await granted('later', 'early'), ['viewer', ['knowledge']]);
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
