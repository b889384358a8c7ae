import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';

import { SignInPage } from '../pages/sign-in.mjs';
import { launch, settled, signedIn, visit } from '../support/browser.mjs';
import { ADMIN, Server } from '../support/server.mjs';
import { becomes } from '../support/wait.mjs';

/** How many clicks it may take from a blank database to the first success. */
const MOST_CLICKS = 6;

let server;
/** A server as it is without any setting of its own. */
let plain;
let browser;
before(async () => {
  // The example calls this very server, which has to permit that, and so must know its port before it starts.
  const port = await freePort();
  server = await Server.start({
    TOOLGATE_LISTEN: `127.0.0.1:${port}`,
    TOOLGATE_EGRESS_ALLOW: `http://127.0.0.1:${port}`,
  });
  plain = await Server.start();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await plain?.stop();
});

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

test('from a blank database to the first successful call', () =>
  visit(browser, server.origin, { refusals: ['/auth/me'] }, async (page) => {
    let clicks = 0;
    const click = async (name) => {
      clicks += 1;
      await page.getByRole('button', { name }).click();
    };
    await page.goto('/');
    const form = new SignInPage(page);
    await form.ready();
    await form.username.fill(ADMIN.username);
    await form.password.fill(ADMIN.password);
    await click('Sign in');
    await page.getByRole('heading', { name: 'There is no project yet' }).waitFor();
    await click('New project');
    await page.getByRole('dialog').getByLabel('Name').fill('First steps');
    await becomes(() => page.getByRole('dialog').getByLabel('Id').inputValue(), 'first-steps');
    await click('Create the project');
    await page.waitForURL('**/projects/first-steps/overview');
    await click('Load the example and try it');
    await page.getByRole('heading', { name: 'gateway-status', level: 1 }).waitFor();
    await click('Call the tool');
    await page.getByText('succeeded', { exact: true }).waitFor();
    assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);

    await page.goto('/ui/projects/first-steps/overview');
    await page.getByRole('link', { name: /^1\s*call\b/ }).waitFor();
  }));

test('without a setting of its own, the server says which one the first call needs', async () => {
  await plain.signIn();
  await plain.createProject('first', 'First steps');
  const storageState = await signedIn(browser, plain.origin);
  await visit(browser, plain.origin, { storageState }, async (page) => {
    await page.goto('/ui/projects/first/overview');
    await settled(page);
    await page.getByRole('button', { name: 'Load the example and try it' }).click();
    const line = page.getByRole('region', { name: 'Environment of the server' });
    assert.equal((await line.textContent()).trim(), `TOOLGATE_EGRESS_ALLOW=${plain.origin}`);
    await page.getByRole('link', { name: 'Go to the tool' }).click();
    await page.getByRole('heading', { name: 'gateway-status', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Call the tool' }).click();
    await page.getByText('egress_denied').waitFor();
  });
});
