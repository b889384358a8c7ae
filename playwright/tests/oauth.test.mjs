// A real MCP client is added by its address alone: it registers, the person signs in and decides, and it calls tools.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { SignInPage } from '../pages/sign-in.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { launch, settled, visit } from '../support/browser.mjs';
import { Provider, asked, freeAddress, waiting } from '../support/oauth.mjs';
import { ADMIN, Server } from '../support/server.mjs';

const TOOLS = `
name: echo-default
type: static
description: Says hello.
options: { static: { result: { said: hello } } }
---
name: echo-work
type: static
description: Says that it works.
group: [work]
options: { static: { result: { said: works } } }
`;

let server;
let browser;

before(async () => {
  // The metadata names the address that clients use, so it is known before the server starts.
  const listen = await freeAddress();
  server = await Server.start({ TOOLGATE_LISTEN: listen, TOOLGATE_PUBLIC_URL: `http://${listen}` });
  await server.signIn();
  await server.createProject('demo', 'Demonstration');
  await server.uploadTools('demo', TOOLS);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const connected = async (url, provider) => {
  const client = new Client({ name: 'story', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  return client;
};

const endpoint = (query = '') => new URL(`${server.origin}/projects/demo/mcp${query}`);

test('a client is added by its address, the person decides, and it calls tools until it is revoked', async () => {
  const callback = await waiting();
  const provider = new Provider(callback.redirectUrl);
  try {
    assert.equal(await auth(provider, { serverUrl: endpoint() }), 'REDIRECT');
    assert.equal(provider.asked.searchParams.get('resource'), endpoint().href);
    assert.equal(provider.asked.searchParams.get('code_challenge_method'), 'S256');

    await visit(browser, server.origin, asked(callback), async (page) => {
      await page.goto(provider.asked.href);
      const signIn = new SignInPage(page);
      await signIn.ready();
      await signIn.signIn(ADMIN);
      await page.getByRole('heading', { name: 'Connect Story client?' }).waitFor();
      await settled(page);
      await assertAccessible(page);
      const facts = await page.locator('dl.facts').textContent();
      for (const fact of ['Story client', 'nothing about it is verified', '127.0.0.1', 'Demonstration', 'admin']) {
        assert.ok(facts.includes(fact), `${fact} in ${facts}`);
      }
      assert.equal(await page.getByLabel('default').isChecked(), true);
      assert.equal(await page.getByLabel('* (every group').isChecked(), false);
      await page.getByLabel('work').uncheck();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'You may close this page' }).waitFor();
    });
    const answer = await callback.answered;
    assert.equal(answer.searchParams.get('state'), 'the state of the story');
    assert.equal(answer.searchParams.get('iss'), server.origin);
    const authorizationCode = answer.searchParams.get('code');
    assert.equal(await auth(provider, { serverUrl: endpoint(), authorizationCode }), 'AUTHORIZED');

    const client = await connected(endpoint(), provider);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ['echo-default']);
    const result = await client.callTool({ name: 'echo-default', arguments: {} });
    assert.match(JSON.stringify(result.content), /hello/);
    await client.close();
    const refused = connected(endpoint('?group=work'), provider).then((wider) => wider.listTools());
    await assert.rejects(refused, /insufficient|403/i);

    // A refresh brings other tokens, by the client's own means.
    const before = provider.kept;
    assert.equal(await auth(provider, { serverUrl: endpoint() }), 'AUTHORIZED');
    assert.notEqual(provider.kept.access_token, before.access_token);
    assert.notEqual(provider.kept.refresh_token, before.refresh_token);
    const again = await connected(endpoint(), provider);
    assert.equal((await again.listTools()).tools.length, 1);

    await visit(browser, server.origin, {}, async (page) => {
      const signIn = new SignInPage(page);
      await signIn.open(`?next=${encodeURIComponent('/ui/projects/demo/connections')}`);
      await signIn.signIn(ADMIN);
      const row = page.getByRole('row', { name: /Story client/ });
      await row.waitFor();
      await row.getByRole('button', { name: 'Disconnect' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
      await page.getByText('Story client is disconnected.').waitFor();
    });
    // It is refused, its tokens bring no others, and it asks the person again.
    await assert.rejects(again.listTools());
    await again.close();
    provider.asked = undefined;
    assert.equal(await auth(provider, { serverUrl: endpoint() }), 'REDIRECT');
    assert.ok(provider.asked);
  } finally {
    callback.close();
  }
});

test('a person refuses, and the client learns it', async () => {
  const callback = await waiting();
  const provider = new Provider(callback.redirectUrl);
  try {
    await auth(provider, { serverUrl: endpoint() });
    await visit(browser, server.origin, asked(callback), async (page) => {
      await page.goto(provider.asked.href);
      const signIn = new SignInPage(page);
      await signIn.ready();
      await signIn.signIn(ADMIN);
      await page.getByRole('button', { name: 'Refuse' }).click();
      await page.getByRole('heading', { name: 'You may close this page' }).waitFor();
    });
    const answer = await callback.answered;
    assert.equal(answer.searchParams.get('error'), 'access_denied');
    assert.equal(answer.searchParams.get('state'), 'the state of the story');
  } finally {
    callback.close();
  }
});

test('an address that the client has not registered is shown to the person and never opened', async () => {
  const callback = await waiting();
  const provider = new Provider(callback.redirectUrl);
  try {
    await auth(provider, { serverUrl: endpoint() });
    const url = new URL(provider.asked);
    url.searchParams.set('redirect_uri', 'https://evil.example/callback');
    await visit(browser, server.origin, { refusals: ['/oauth/authorize'] }, async (page) => {
      await page.goto(url.href);
      await page.getByRole('heading', { name: 'The client cannot be connected' }).waitFor();
      assert.equal(new URL(page.url()).origin, server.origin);
    });
  } finally {
    callback.close();
  }
});
