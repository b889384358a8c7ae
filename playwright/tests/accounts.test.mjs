// Accounts of persons at services: providers, connecting by sign-in and by a key, calls, revoking and disconnecting.
import { once } from 'node:events';
import { createServer } from 'node:http';
import assert from 'node:assert/strict';

import { AccountService, KEY } from '../support/account-service.mjs';
import { settled } from '../support/browser.mjs';
import { assertGoodInEveryLook } from '../support/looks.mjs';
import { Server } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';

const tools = (origin) =>
  ['issues', 'tracker']
    .map(
      (provider) => `
name: whoami-${provider}
type: openapi
description: Says who calls.
parameters: { type: object, properties: {} }
options: { http: { base_url: "${origin}", path: /api, auth: { scheme: account, provider: ${provider} } } }
`,
    )
    .join('---');

const stage = setStage(async () => {
  const service = await AccountService.start();
  try {
    // Services send persons back to the server's address, so it is known before the server starts.
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const listen = `127.0.0.1:${free.address().port}`;
    await new Promise((closed) => free.close(closed));
    const server = await Server.start({
      TOOLGATE_LISTEN: listen,
      TOOLGATE_PUBLIC_URL: `http://${listen}`,
      TOOLGATE_EGRESS_ALLOW: service.origin,
    });
    await server.signIn();
    await server.createProject('demo', 'Demonstration');
    await server.uploadTools('demo', tools(service.origin));
    const stop = async () => {
      await server.stop();
      await service.stop();
    };
    return { server, service, stop };
  } catch (error) {
    await service.stop();
    throw error;
  }
});

const call = (tool) => stage.server.call('demo', stage.server.token, { tool, arguments: {} });

/** Where persons sign in is another place than the dashboard; it is known once it listens. */
const atService = {
  get others() {
    return [stage.service.origin];
  },
};

stage.story('providers are added and changed, accounts connected, used, revoked and disconnected', atService, async (page) => {
  await page.goto('/ui/projects/demo/accounts');
  await settled(page);
  await page.getByText('An owner of the project adds account providers.').waitFor();
  await page.getByRole('link', { name: 'Account providers' }).click();
  await page.getByRole('button', { name: 'Add the first provider' }).click();
  const form = page.getByRole('dialog', { name: 'New account provider' });
  await form.getByLabel('Name').fill('issues');
  await form.getByLabel('Title').fill('Issues');
  await form.getByLabel('Hosts').fill(stage.service.host);
  await form.getByLabel('Resource').fill(`${stage.service.origin}/api`);
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('issues is saved.').waitFor();
  await page.getByRole('button', { name: 'New provider' }).click();
  await form.getByLabel('Name').fill('tracker');
  await form.getByLabel('Accounts').selectOption('personal_key');
  await form.getByLabel('Hosts').fill(stage.service.host);
  await form.getByLabel('Header').fill('X-Api-Key');
  await form.getByLabel('Client id').waitFor({ state: 'detached' });
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('tracker is saved.').waitFor();
  await page.getByRole('button', { name: 'Edit tracker' }).click();
  const change = page.getByRole('dialog', { name: 'Change tracker' });
  await change.getByLabel('Title').fill('Tracker');
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row').filter({ hasText: 'Tracker' }).waitFor();
  await page.getByText('No account is connected.').waitFor();
  await assertGoodInEveryLook(page, 'account providers');
  const { definition } = await stage.server.get('/projects/demo/account-providers/tracker');
  assert.deepEqual(definition, {
    method: 'personal_key', title: 'Tracker', hosts: [stage.service.host], header: 'X-Api-Key', auth_style: 'basic',
  });

  // By sign-in at the service.
  assert.equal((await call('whoami-issues')).body.code, 'account_required');
  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Accounts' }).click();
  await page.getByRole('button', { name: 'Connect: Issues' }).click();
  await page.getByRole('link', { name: 'Let Toolgate in' }).click();
  await page.getByText('Your account is connected.').waitFor();
  await page.getByRole('button', { name: 'Disconnect: Issues' }).waitFor();
  assert.equal((await call('whoami-issues')).body.result.who, 'a connected person');

  // By a key.
  await page.getByRole('button', { name: 'Connect: Tracker' }).click();
  const key = page.getByRole('dialog', { name: 'Connect Tracker' });
  await key.getByLabel('Key').fill(KEY);
  await key.getByLabel('Label').fill('my key');
  await key.getByRole('button', { name: 'Connect' }).click();
  await page.getByText('Tracker is connected.').waitFor();
  const used = (await call('whoami-tracker')).body;
  assert.equal(used.result.who, 'the holder of a key');

  // Which account a call was sent with is in its record.
  await page.goto(`/ui/projects/demo/records?record=${used.call_id}`);
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByText('tracker: my key').waitFor();
  assert.ok(!(await page.content()).includes(KEY), 'the key is not on the page');

  // Those who manage keys revoke it.
  await page.goto('/ui/projects/demo/account-providers');
  await settled(page);
  await page.getByRole('button', { name: 'Revoke the account of admin at tracker' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The account of admin is revoked.').waitFor();
  assert.equal((await call('whoami-tracker')).body.code, 'account_required');

  // The person disconnects the other.
  await page.goto('/ui/projects/demo/accounts');
  await page.getByRole('button', { name: 'Disconnect: Issues' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.getByText('Issues is disconnected.').waitFor();
  await page.getByRole('button', { name: 'Connect: Issues' }).waitFor();
  assert.equal((await call('whoami-issues')).body.code, 'account_required');

  await page.goto('/ui/projects/demo/account-providers');
  await page.getByRole('button', { name: 'Delete tracker' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the provider' }).click();
  await page.getByText('tracker was deleted.').waitFor();
  const left = await stage.server.get('/projects/demo/account-providers');
  assert.deepEqual(left.items.map(({ name }) => name), ['issues']);
});
