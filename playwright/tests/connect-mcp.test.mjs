// The page Connect for MCP: every configuration leads to the server, and the inspector lists and calls as a client would.
import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { assertGoodInEveryLook } from '../support/looks.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const quoted = (text) => /"(http[^"]+)"/.exec(text)[1];
const server = (text) => Object.values(JSON.parse(text).mcpServers)[0];
/** Where each client finds the address. */
const CLIENTS = {
  'claude-code': quoted,
  'claude-desktop': (text) => server(text).args.find((arg) => arg.startsWith('http')),
  cursor: (text) => server(text).url,
  vscode: (text) => Object.values(JSON.parse(text).servers)[0].url,
  codex: (text) => /^url = "(.*)"$/m.exec(text)[1],
  windsurf: (text) => server(text).serverUrl,
  curl: quoted,
  python: quoted,
  typescript: quoted,
};
const PROGRAMS = ['curl', 'python', 'typescript'];

const code = (page) => page.locator('figure.code pre').last().textContent();

async function listed(url, key) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return (await answer.json()).result.tools.map(({ name }) => name).sort();
}

stage.story('the address in every configuration is that of the server, with the groups', async (page) => {
  const { secret: key } = await stage.server.createKey('demo', 'connecting agent', ['knowledge']);
  for (const credential of ['', 'sign-in']) {
    for (const [client, read] of Object.entries(CLIENTS)) {
      await page.goto(`/ui/projects/demo/connect?view=mcp&client=${client}&credential=${credential}`);
      await settled(page);
      await page.getByRole('combobox', { name: 'Groups' }).fill('knowledge');
      await becomes(async () => (await code(page)).includes('group=knowledge'), true, 'the groups are in it');
      const text = await code(page);
      assert.ok((await listed(read(text), key)).includes('look-up'), client);
      const sendsKey = /Authorization|key-env|bearer_token/.test(text);
      assert.equal(sendsKey, credential === '' || PROGRAMS.includes(client), `${client}: ${text}`);
    }
  }
  await assertGoodInEveryLook(page, 'the configuration of a client');
});

stage.story('the inspector lists and calls as the person', async (page) => {
  await page.goto('/ui/projects/demo/connect?view=inspector');
  await settled(page);
  await page.getByRole('combobox', { name: 'Groups' }).fill('knowledge');
  await page.getByRole('button', { name: 'List tools' }).click();
  await page.getByLabel('Tool', { exact: true }).selectOption('look-up');
  await page.getByRole('textbox', { name: /^word/ }).fill('gate');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.getByText('succeeded', { exact: true }).waitFor();
  await assertGoodInEveryLook(page, 'the inspector');
});

stage.story('the inspector sees what a key sees, and a wrong key does not sign the person out', async (page) => {
  const { secret: key } = await stage.server.createKey('demo', 'narrow agent', ['knowledge']);
  await page.goto('/ui/projects/demo/connect?view=inspector');
  await settled(page);
  const list = page.getByRole('button', { name: 'List tools' });
  await page.getByRole('combobox', { name: 'Groups' }).fill('writing');
  await page.getByLabel('Key', { exact: true }).fill(key);
  await list.click();
  await page.getByText('insufficient_tool_groups').first().waitFor();
  await page.getByRole('combobox', { name: 'Groups' }).fill('knowledge');
  await list.click();
  const tools = page.getByLabel('Tool', { exact: true }).locator('option');
  await tools.first().waitFor({ state: 'attached' });
  const expected = await listed(`${stage.server.origin}/projects/demo/mcp?group=knowledge`, key);
  assert.deepEqual((await tools.allTextContents()).sort(), expected);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
  assert.ok(!kept.includes(key), 'the key is kept nowhere');
});

stage.story('the clients that connected are listed', async (page) => {
  const { secret: key } = await stage.server.createKey('demo', 'listed agent', ['knowledge']);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a-known-client', version: '7.1' } };
  await fetch(`${stage.server.origin}/projects/demo/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await page.goto('/ui/projects/demo/connect?view=clients');
  const row = page.getByRole('row', { name: /a-known-client/ });
  await row.getByText('7.1').waitFor();
  await row.getByText('listed agent').waitFor();
  await assertGoodInEveryLook(page, 'connected clients');
});
