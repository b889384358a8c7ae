// Every refusal leads to what lifts it: from the form that tries a tool, from a record, from an explanation, from an import.
import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { signedInMember } from '../support/people.mjs';
import { Server } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';
import { Upstream } from '../support/upstream.mjs';

/** The server permits the addresses, and no host: each project lists its own. */
async function start() {
  const upstream = await Upstream.start();
  const server = await Server.start({ TOOLGATE_EGRESS_ALLOW: 'cidr:127.0.0.0/8' });
  await server.signIn();
  await server.createProject('demo', 'Demonstration');
  const origin = upstream.origin.replace('127.0.0.1', 'localhost');
  await server.uploadTools('demo', tools(origin));
  const stop = async () => {
    await server.stop();
    await upstream.stop();
  };
  return { server, upstream, origin, stop };
}

const tools = (origin) => `
name: far
type: openapi
description: Leads to a host that is not allowed yet.
group: [default, far]
parameters: { type: object, properties: {} }
options: { http: { base_url: "${origin}", path: /far } }
---
name: keyless
type: openapi
description: Needs a secret that is not set.
parameters: { type: object, properties: { key: { type: string } } }
options: { envs: { key: "secret:FAR_KEY" }, http: { base_url: "${origin}", path: /far, method: POST } }
---
name: begin
type: static
description: Leads to the state begun.
state: begun
parameters: { type: object, properties: {} }
options: { static: { result: begun } }
---
name: finish
type: static
description: Is open after begin only.
available_in_states: [begun]
parameters: { type: object, properties: {} }
options: { static: { result: finished } }
---
name: shared
type: static
description: Is in two groups.
group: [default, far]
parameters: { type: object, properties: {} }
options: { static: { result: shared } }
`;

const stage = setStage(start);

async function openRecord(page, tool) {
  await page.goto(`/ui/projects/demo/records?action=call&tool=${tool}`);
  await settled(page);
  await page.locator('[data-row]').first().click();
  return page.getByRole('dialog', { name: 'Record' });
}

stage.story('a missing secret is set from the call that lacked it', async (page) => {
  await page.goto('/ui/projects/demo/tools/keyless?tab=try');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.getByText('tool_unavailable').waitFor();
  await assertAccessible(page);
  await page.getByRole('link', { name: 'Set the secret FAR_KEY' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a secret' });
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'FAR_KEY');
  await dialog.getByLabel('Value').fill('0123456789');
  await dialog.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByText('FAR_KEY is set.').waitFor();
  assert.ok(!page.url().includes('set='), 'a reload does not ask again');
  await page.goto('/ui/projects/demo/simulator?tool=keyless');
  await page.getByText('1 of 1 tools can be called').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Set the secret FAR_KEY' }).count(), 0);
});

stage.story('a missing group is granted from the record of the refusal', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'narrow agent', ['default']);
  const refused = await server.call('demo', agent.secret, { tool: 'far', group: ['far'], arguments: {} });
  assert.equal(refused.status, 403);
  const record = await openRecord(page, 'far');
  await assertAccessible(page);
  await record.getByRole('link', { name: 'Grant far' }).click();
  const grant = page.getByRole('dialog', { name: 'narrow agent' });
  await grant.getByText('What it may manage.').waitFor();
  await settled(page);
  assert.equal(await grant.getByLabel('Groups').inputValue(), 'default\nfar');
  await grant.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The grant is in force.').waitFor();
  assert.ok(!page.url().includes('grant='), 'a reload does not ask again');
  const { body } = await server.call('demo', agent.secret, { tool: 'far', group: ['far'], arguments: {} });
  assert.notEqual(body.code, 'insufficient_tool_groups');
});

stage.story('a call asks for those groups of the tool that the caller holds', async () => {
  const { storageState } = await signedInMember(stage, 'plain-caller', 'agent', ['default']);
  const context = await stage.browser.newContext({ storageState, baseURL: stage.server.origin });
  const page = await context.newPage();
  await page.goto('/ui/projects/demo/tools/shared');
  const groups = page.getByLabel('Groups');
  await groups.waitFor();
  assert.equal(await groups.inputValue(), 'default');
  const call = page.getByRole('button', { name: 'Call the tool' });
  await call.click();
  await page.getByText('succeeded').waitFor();
  await groups.fill('default, far');
  await call.click();
  await page.getByRole('alert').getByText('Insufficient permissions for requested tool groups').first().waitFor();
  await context.close();
});

stage.story('an owner is offered to grant only what they hold, and sees who can grant the rest', async () => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'wishful agent', ['default']);
  await server.call('demo', agent.secret, { tool: 'far', group: ['far'], arguments: {} });
  const { storageState } = await signedInMember(stage, 'owner-without-far', 'owner', ['default']);
  const context = await stage.browser.newContext({ storageState, baseURL: server.origin });
  const page = await context.newPage();
  const who = /An owner of the project who holds these groups can grant them/;
  const grant = page.getByRole('link', { name: 'Grant far' });

  const record = await openRecord(page, 'far');
  await record.getByText(who).waitFor();
  assert.equal(await grant.count(), 0);
  assert.equal(await record.getByRole('link', { name: 'Ask for it' }).count(), 0, 'an agent was refused, not the owner');

  await page.goto('/ui/projects/demo/tools/far?tab=try');
  await page.getByLabel('Groups').fill('far');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.getByRole('link', { name: 'Ask for it' }).waitFor();
  await page.getByText(who).waitFor();
  assert.equal(await grant.count(), 0);
  await assertAccessible(page);

  await page.goto(`/ui/projects/demo/permissions?principal=service_key:${agent.id}&grant=far`);
  const drawer = page.getByRole('dialog', { name: 'wishful agent' });
  await drawer.getByRole('button', { name: 'Remove the grant' }).waitFor();
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText('You cannot grant more than you hold').waitFor();
  await drawer.getByText(who).waitFor();
  await drawer.getByRole('link', { name: 'Ask for far for yourself' }).click();
  await page.waitForURL(/access-requests\?groups=far$/);
  await page.getByRole('region', { name: 'Ask for access' }).waitFor();
  await context.close();
});

stage.story('a call in the wrong state leads to the tools that lead there', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'early agent', ['default']);
  await server.call('demo', agent.secret, { tool: 'finish', arguments: {} });
  const record = await openRecord(page, 'finish');
  await record.getByRole('button', { name: 'Find the remedy' }).click();
  await record.getByRole('link', { name: 'Tools that lead to begun' }).click();
  await page.waitForURL(/states\?at=begun/);
  await page.getByRole('link', { name: 'begin', exact: true }).first().waitFor();
});

stage.story('a limit that is used up leads to the limits', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'hasty agent', ['default']);
  await server.put('/projects/demo/limits', {
    limits: [{ name: 'one', subject: { kind: 'tool', tool: 'begin' }, requests: { count: 1, per_s: 3600 } }],
  });
  for (let call = 0; call < 2; call += 1) await server.call('demo', agent.secret, { tool: 'begin', arguments: {} });
  const record = await openRecord(page, 'begin');
  await record.getByRole('link', { name: 'See the limits' }).click();
  await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
});

stage.story('who may not allow a host learns who may', async (page) => {
  const { storageState } = await signedInMember(stage, 'owner-of-demo', 'owner', ['default', 'far']);
  const context = await stage.browser.newContext({ storageState, baseURL: stage.server.origin });
  const theirs = await context.newPage();
  await theirs.goto('/ui/projects/demo/tools/far?tab=try');
  await theirs.getByRole('button', { name: 'Call the tool' }).click();
  await theirs.getByText(`A system administrator can allow ${stage.origin}`).waitFor();
  assert.equal(await theirs.getByRole('button', { name: `Allow ${stage.origin}` }).count(), 0);
  await context.close();
  await page.goto('/ui/projects/demo/simulator?tool=far');
  await page.getByRole('button', { name: `Allow ${stage.origin}` }).waitFor();
});

stage.story('a host is allowed in place, and the same call succeeds', async (page) => {
  await page.goto('/ui/projects/demo/tools/far?tab=try');
  const call = page.getByRole('button', { name: 'Call the tool' });
  await call.click();
  await page.getByText('egress_denied').first().waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: `Allow ${stage.origin}` }).click();
  await page.getByText(`${stage.origin} is allowed now.`).waitFor();
  await call.click();
  await page.getByText('succeeded').waitFor();
  const { hosts } = await stage.server.get('/projects/demo/egress');
  assert.deepEqual(hosts, [stage.origin]);
});
