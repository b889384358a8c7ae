// Whatever takes something away, or changes access at once, asks first: leaving the question changes nothing.
import assert from 'node:assert/strict';

import { settled, signedIn, visit } from '../support/browser.mjs';
import { member } from '../support/people.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const status = async (method, path, options) => (await stage.server.ask(method, path, options)).status;

/**
 * Presses the button twice: the first time the question is left, which changes nothing; the second time it is answered.
 * `read` tells whether it was done.
 */
async function asksFirst(page, button, { question, verb, read }) {
  assert.equal(await read(), false, 'not done yet');
  await button.click();
  const dialog = page.getByRole('dialog', { name: question });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.equal(await read(), false, 'asking does nothing');
  await button.click();
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await becomes(read, true, `${verb} does it`);
}

stage.story('a user gets a new password, is disabled and enabled only after a question', async (page) => {
  const ada = await member(stage.server, 'ada', 'viewer');
  const mayEnter = async () => (await status('POST', '/auth/login', { body: { username: ada.username, password: ada.password }, token: null })) === 200;
  const user = async () => stage.server.get(`/users/${ada.id}`);
  await page.goto('/ui/users');
  const row = page.getByRole('row').filter({ hasText: 'ada' });
  await asksFirst(page, row.getByRole('button', { name: 'Disable: ada' }), {
    question: 'Disable ada?',
    verb: 'Disable the user',
    read: async () => 'disabled_at' in (await user()),
  });
  await asksFirst(page, row.getByRole('button', { name: 'Enable: ada' }), {
    question: 'Enable ada?',
    verb: 'Enable the user',
    read: async () => !('disabled_at' in (await user())),
  });
  await asksFirst(page, row.getByRole('button', { name: 'New password: ada' }), {
    question: 'Replace the password of ada?',
    verb: 'Replace the password',
    read: async () => !(await mayEnter()),
  });
  const shown = page.getByRole('dialog', { name: 'New password' });
  const password = await shown.getByRole('region', { name: 'Password' }).textContent();
  await shown.getByRole('button', { name: 'I have copied it' }).click();
  await signedIn(stage.browser, stage.server.origin, { username: 'ada', password });
});

stage.story('users do not replace their own password by one that is made', async (page) => {
  await page.goto('/ui/users');
  const row = page.getByRole('row', { name: /^admin/ });
  await row.getByText('you', { exact: true }).waitFor();
  assert.equal(await row.getByRole('button', { name: /^New password/ }).count(), 0);
});

stage.story('a tool is disabled only after a question, and it can be undone', async (page) => {
  const isDisabled = async () => !(await stage.server.get('/projects/demo/tools/summarise')).enabled;
  await page.goto('/ui/projects/demo/tools/summarise');
  await asksFirst(page, page.getByRole('button', { name: 'Disable', exact: true }), {
    question: 'Disable summarise?',
    verb: 'Disable the tool',
    read: isDisabled,
  });
  await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click();
  await becomes(isDisabled, false);
});

stage.story('a grant is removed only after a question', async (page) => {
  const bob = await member(stage.server, 'bob', 'viewer');
  const path = `/projects/demo/permissions/${encodeURIComponent(bob.principal)}`;
  await page.goto(`/ui/projects/demo/permissions?principal=${encodeURIComponent(bob.principal)}`);
  const drawer = page.getByRole('dialog', { name: 'bob', exact: true });
  await asksFirst(page, drawer.getByRole('button', { name: 'Remove the grant' }), {
    question: 'Remove the grant of bob?',
    verb: 'Remove',
    read: async () => (await status('GET', path)) === 404,
  });
  await page.getByText('The grant was removed.').waitFor();
  await drawer.waitFor({ state: 'hidden' });
});

stage.story('a group is renamed and deleted only after a look at what that touches', async (page) => {
  const groups = async () => (await stage.server.get('/projects/demo/tools/search-web')).group;
  await page.goto('/ui/projects/demo/groups?group=research');
  const drawer = page.getByRole('dialog', { name: 'research', exact: true });
  await settled(page);
  await drawer.getByLabel('New name').fill('studies');
  await asksFirst(page, drawer.getByRole('button', { name: 'Rename', exact: true }), {
    question: 'Rename research to studies?',
    verb: 'Rename the group',
    read: async () => (await groups()).includes('studies'),
  });
  await page.goto('/ui/projects/demo/groups?group=studies');
  const renamed = page.getByRole('dialog', { name: 'studies', exact: true });
  await settled(page);
  await renamed.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog', { name: 'Delete studies?' }).getByText('1 tools').waitFor();
  await page.getByRole('dialog', { name: 'Delete studies?' }).getByRole('button', { name: 'Cancel' }).click();
  await asksFirst(page, renamed.getByRole('button', { name: 'Delete', exact: true }), {
    question: 'Delete studies?',
    verb: 'Delete the group',
    read: async () => !(await groups()).includes('studies'),
  });
});

stage.story('a policy test is removed only after a question', async (page) => {
  await page.goto('/ui/projects/demo/policy-tests');
  await asksFirst(page, page.getByRole('button', { name: 'Remove readers-do-not-publish' }), {
    question: 'Remove readers-do-not-publish?',
    verb: 'Remove the test',
    read: async () => (await status('GET', '/projects/demo/policy-tests/readers-do-not-publish')) === 404,
  });
});

stage.story('a session is ended only after a question', async (page) => {
  const { id } = await stage.server.post('/projects/demo/sessions', { group: ['knowledge'] });
  await page.goto(`/ui/projects/demo/sessions?session=${id}`);
  const drawer = page.getByRole('dialog', { name: 'Session', exact: true });
  await asksFirst(page, drawer.getByRole('button', { name: 'End the session' }), {
    question: 'End the session?',
    verb: 'End it',
    read: async () => 'ended_at' in (await stage.server.get(`/projects/demo/sessions/${id}`)),
  });
});

stage.story('people change their own password, and stay signed in', { refusals: ['/auth/password'] }, async () => {
  const { browser, server } = stage;
  const eve = await member(server, 'eve', 'agent');
  const storageState = await signedIn(browser, server.origin, eve);
  const elsewhere = (await server.post('/auth/login', { username: eve.username, password: eve.password })).access_token;
  const next = 'the boat leaves at six';
  await visit(browser, server.origin, { storageState, refusals: ['/auth/password'] }, async (page) => {
    await page.goto('/ui/projects/demo/tools');
    await page.getByRole('button', { name: /account$/ }).click();
    await page.getByRole('button', { name: 'Change your password' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change your password' });
    const change = dialog.getByRole('button', { name: 'Change the password' });
    await dialog.getByLabel('Present password').fill('not the present one');
    await dialog.getByLabel('New password', { exact: true }).fill(next);
    await dialog.getByLabel('New password, again').fill('the boat leaves at ten');
    await dialog.getByText('The two are not the same.').waitFor();
    await becomes(() => change.isDisabled(), true);
    await dialog.getByLabel('New password, again').fill(next);
    await change.click();
    await dialog.getByText('this is not the password until now').waitFor();
    await dialog.getByLabel('Present password').fill(eve.password);
    await change.click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Your password is changed.').waitFor();
    // This sign-in goes on, and no other does.
    await page.goto('/ui/projects/demo/sessions');
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor();
  });
  assert.equal(await status('GET', '/auth/me', { token: elsewhere }), 401);
  await signedIn(browser, server.origin, { ...eve, password: next });
});
