// An administrator with an empty project: the first tool of one's own is called, and a colleague may work on it.
import assert from 'node:assert/strict';

import { journey } from '../pages/journey.mjs';
import { ADMIN, Server } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';
import { Upstream } from '../support/upstream.mjs';

/** How many clicks it may take from the page of a new tool to its first governed call. */
const MOST_TO_THE_CALL = 6;
const TOKEN = 'confidential token';

/** The server permits the addresses, and no host. */
async function start() {
  const upstream = await Upstream.start();
  let server;
  const stop = async () => {
    await server?.stop();
    await upstream.stop();
  };
  try {
    server = await Server.start({ TOOLGATE_EGRESS_ALLOW: 'cidr:127.0.0.0/8' });
    await server.signIn();
    await server.createProject('first', 'First project');
  } catch (error) {
    await stop();
    throw error;
  }
  return { server, upstream, origin: upstream.origin.replace('127.0.0.1', 'localhost'), stop };
}

const stage = setStage(start);

/** Pastes a text where the focus is, as a person does. */
async function paste(page, text) {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press('ControlOrMeta+V');
}

/** Makes a user who has no password of their own yet; returns the one that is shown once. */
async function makeUser(page, username) {
  await page.getByRole('link', { name: 'Users', exact: true }).click();
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog', { name: 'New user' });
  await dialog.getByLabel('User name').fill(username);
  await dialog.getByRole('button', { name: 'Create the user' }).click();
  const password = await dialog.getByRole('region', { name: 'Password' }).textContent();
  await dialog.getByRole('button', { name: 'Copy: Password' }).click();
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('row').filter({ hasText: username }).waitFor();
  return password.trim();
}

const WINDOW = { most: 17 };

journey(stage, 'an administrator makes a first tool, calls it, and adds a member', WINDOW, async (page, way) => {
  const { server, origin } = stage;
  await way.signIn(ADMIN);
  // The only project is where one comes to.
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'New tool' }).click();
  const pasted = page.getByLabel('Paste a URL');
  await pasted.waitFor();
  way.part('to the new tool');

  await pasted.focus();
  await paste(page, `curl '${origin}/v1/notes/42' -H 'Authorization: Bearer ${TOKEN}' --json '{"title": "Hello"}'`);
  await page.getByRole('button', { name: `Allow ${origin} and test` }).click();
  await page.getByText('succeeded', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save and call it as a new key' }).click();
  const saved = page.getByRole('region', { name: 'The saved tool' });
  await saved.getByText('succeeded', { exact: true }).waitFor();
  const clicks = way.part('to the first governed call');
  assert.ok(clicks <= MOST_TO_THE_CALL, `${clicks} clicks to the first governed call; at most ${MOST_TO_THE_CALL} are fine`);
  const calls = await server.get('/projects/first/audit?action=call');
  assert.deepEqual(calls.items.map((call) => [call.principal_kind, call.outcome]), [['service_key', 'succeeded']]);

  const password = await makeUser(page, 'colleague');
  way.part('to a new user');

  // The page of the users leads to no project.
  await page.getByRole('button', { name: /switch project$/ }).click();
  await page.getByRole('link', { name: /^First project/ }).click();
  await page.getByRole('link', { name: 'Permissions', exact: true }).click();
  await page.getByRole('button', { name: 'Add a member' }).click();
  const adding = page.getByRole('dialog', { name: 'Add a member' });
  await adding.getByLabel('User', { exact: true }).fill('coll');
  await adding.getByRole('listitem').filter({ hasText: 'colleague' }).getByRole('button', { name: 'Choose' }).click();
  const grant = page.getByRole('dialog', { name: 'colleague' });
  await grant.getByText('There is no grant in this project yet.').waitFor();
  await grant.getByLabel('Role').selectOption({ label: 'Editor: changes tools' });
  await grant.getByLabel('Groups').fill('default');
  await grant.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The grant is in force.').waitFor();
  await page.getByRole('button', { name: 'colleague', exact: true }).waitFor();
  way.part('to a member with a role');

  const entered = await server.ask('POST', '/auth/login', { body: { username: 'colleague', password }, token: null });
  const { access_token: token } = entered.body;
  const [tool] = (await server.ask('GET', '/projects/first/tools', { token })).body.items;
  const stored = await server.ask('GET', `/projects/first/tools/${tool.name}`, { token });
  assert.equal(stored.status, 200, 'the member reads the tool');
});
