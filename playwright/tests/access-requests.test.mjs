// Who was refused asks for what was missing, and an administrator decides in the inbox.
import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { signedInMember } from '../support/people.mjs';
import { Server } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';
import { Upstream } from '../support/upstream.mjs';

async function start() {
  const upstream = await Upstream.start();
  const server = await Server.start({ TOOLGATE_EGRESS_ALLOW: 'cidr:127.0.0.0/8' });
  await server.signIn();
  await server.createProject('demo', 'Demonstration');
  const origin = upstream.origin.replace('127.0.0.1', 'localhost');
  await server.uploadTools(
    'demo',
    `name: far\ntype: openapi\ndescription: Leads to a host that is not allowed yet.\ngroup: [knowledge, far]\n` +
      `parameters: { type: object, properties: {} }\noptions: { http: { base_url: "${origin}", path: /far } }`,
  );
  const stop = async () => {
    await server.stop();
    await upstream.stop();
  };
  return { server, origin, stop };
}

const stage = setStage(start);

/** Runs a story as another person. */
async function as(storageState, story) {
  const context = await stage.browser.newContext({ storageState, baseURL: stage.server.origin });
  try {
    return await story(await context.newPage());
  } finally {
    await context.close();
  }
}

async function decide(page, verb, asked, note) {
  await page.goto('/ui/projects/demo/access-requests?status=open');
  await settled(page);
  await assertAccessible(page);
  await page.getByRole('button', { name: `${verb}: ${asked}` }).click();
  const dialog = page.getByRole('dialog');
  await assertAccessible(page);
  await dialog.getByLabel('Note').fill(note);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await page.getByText(`${asked}: ${verb === 'Grant' ? 'granted' : 'declined'}.`).waitFor();
}

stage.story('a missing group is asked for where it was refused, and granted', async (page) => {
  const { storageState } = await signedInMember(stage, 'reader', 'viewer', ['knowledge']);
  await as(storageState, async (theirs) => {
    await theirs.goto('/ui/projects/demo/tools/far?tab=try');
    await theirs.getByLabel('Groups').fill('knowledge, far');
    await theirs.getByRole('button', { name: 'Call the tool' }).click();
    await theirs.getByText('insufficient_tool_groups').or(theirs.getByText('Insufficient permissions')).first().waitFor();
    await theirs.getByRole('link', { name: 'Ask for it' }).click();
    await theirs.getByText('Groups: far').waitFor();
    await theirs.getByLabel('Reason').fill('The weekly report.');
    await assertAccessible(theirs);
    await theirs.getByRole('button', { name: 'Ask for it' }).click();
    await theirs.getByText('The request was sent.').waitFor();
    assert.equal(await theirs.getByRole('button', { name: /^Grant:/ }).count(), 0, 'only who manages access decides');
  });
  await decide(page, 'Grant', 'Groups: far', 'Until further notice.');
  await as(storageState, async (theirs) => {
    await theirs.goto('/ui/projects/demo/access-requests');
    await theirs.getByText('by admin: Until further notice.').waitFor();
  });
});

stage.story('a host is asked for, and allowed', async (page) => {
  const { storageState } = await signedInMember(stage, 'caller', 'viewer', ['knowledge', 'far']);
  await as(storageState, async (theirs) => {
    await theirs.goto('/ui/projects/demo/tools/far?tab=try');
    await theirs.getByRole('button', { name: 'Call the tool' }).click();
    await theirs.getByRole('link', { name: 'Ask for it' }).click();
    await theirs.getByLabel('Reason').fill('The weekly report.');
    await theirs.getByRole('button', { name: 'Ask for it' }).click();
    await theirs.getByText('The request was sent.').waitFor();
  });
  await decide(page, 'Grant', `Host: ${stage.origin}`, '');
  const { hosts } = await stage.server.get('/projects/demo/egress');
  assert.deepEqual(hosts, [stage.origin]);
});
