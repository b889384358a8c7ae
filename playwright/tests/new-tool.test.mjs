// A new tool from what is pasted: to the first governed call without YAML.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Editor } from '../pages/editor.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { launch, settled, signedIn, visit } from '../support/browser.mjs';
import { ADMIN, Server } from '../support/server.mjs';
import { Upstream } from '../support/upstream.mjs';
import { becomes } from '../support/wait.mjs';

/** How many clicks it may take from a blank database to the first governed call. */
const MOST_CLICKS = 6;
const SECRET = 's3cr3t-t0k3n-value';

let server;
let upstream;
let origin;
let browser;
before(async () => {
  upstream = await Upstream.start();
  origin = upstream.origin.replace('127.0.0.1', 'localhost');
  // The addresses are permitted, and no host: the first test allows it.
  server = await Server.start({
    TOOLGATE_EGRESS_ALLOW: 'cidr:127.0.0.0/8',
    TOOLGATE_SECRETS_KEY: 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=',
  });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await upstream?.stop();
});

/** Pastes a text where the focus is, as a person does. */
async function paste(page, text) {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.getByLabel('Paste a URL').focus();
  await page.keyboard.press('ControlOrMeta+V');
}

const command = (path) =>
  `curl '${origin}${path}' \\\n  -H 'Authorization: Bearer ${SECRET}' \\\n  --json '{"title": "Hello", "count": 3}'`;

test('from a blank database to the first governed call', () =>
  visit(browser, server.origin, { refusals: ['/auth/me'] }, async (page) => {
    let clicks = 0;
    const click = async (name, role = 'button') => {
      clicks += 1;
      await page.getByRole(role, { name, exact: true }).click();
    };
    await page.goto('/');
    const form = new SignInPage(page);
    await form.ready();
    await form.username.fill(ADMIN.username);
    await form.password.fill(ADMIN.password);
    await click('Sign in');
    await page.getByRole('heading', { name: 'There is no project yet' }).waitFor();
    await click('New project');
    await page.getByRole('dialog').getByLabel('Name').fill('Demo');
    await becomes(() => page.getByRole('dialog').getByLabel('Id').inputValue(), 'demo');
    await click('Create the project');
    await page.waitForURL('**/projects/demo/overview');
    await page.getByRole('navigation').getByRole('link', { name: 'New tool', exact: true }).waitFor();
    await click('New tool', 'link');
    await page.getByLabel('Paste a URL').waitFor();
    await paste(page, command('/v1/notes/42?draft=true'));
    await click(`Allow ${origin} and test`);
    await page.getByText('succeeded', { exact: true }).waitFor();
    await click('Save and call it as a new key');
    const saved = page.getByRole('region', { name: 'The saved tool' });
    await saved.getByRole('region', { name: 'Key', exact: true }).waitFor();
    await saved.getByText('succeeded', { exact: true }).waitFor();
    assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
    await assertAccessible(page);

    // The request went out twice, with the credential; the call is that of the key.
    const sent = upstream.requests.filter((request) => request.path === '/v1/notes/42?draft=true');
    assert.deepEqual(sent.map((request) => request.headers.authorization), [`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
    await server.signIn();
    const records = await server.get('/projects/demo/audit?action=call');
    assert.deepEqual(records.items.map((record) => [record.principal_kind, record.outcome]), [['service_key', 'succeeded']]);
    const tests = await server.get('/projects/demo/audit?action=test');
    assert.equal(tests.items.length, 1);
  }));

test('the form and the YAML follow each other, and nothing of the credential stays on the page', async () => {
  await server.signIn();
  const storageState = await signedIn(browser, server.origin);
  await visit(browser, server.origin, { storageState }, async (page) => {
    await page.goto('/ui/projects/demo/new-tool');
    await settled(page);
    await assertAccessible(page);
    await paste(page, command('/v2/items/7'));
    const yaml = new Editor(page, 'Definition as YAML');
    await becomes(async () => (await yaml.text()).includes('/v2/items/{item_id}'), true);
    await page.getByText('EXAMPLE_TOKEN').or(page.getByText(/LOCALHOST_TOKEN/)).first().waitFor();
    await becomes(() => page.getByLabel('Name of parameter 1', { exact: true }).inputValue(), 'item_id');
    assert.equal(await page.getByLabel('Type of parameter 3', { exact: true }).inputValue(), 'integer');
    assert.ok(!(await page.content()).includes(SECRET));
    const values = await page.locator('input, textarea').evaluateAll((fields) => fields.map((field) => field.value));
    assert.ok(!values.some((value) => value.includes(SECRET)));

    await page.locator('#def-name').fill('renamed-note');
    await becomes(async () => (await yaml.text()).includes('name: renamed-note'), true);
    await yaml.replace('name: renamed-note', 'name: renamed-again');
    await becomes(() => page.locator('#def-name').inputValue(), 'renamed-again');

    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('region', { name: 'Request', exact: true }).waitFor();
    const request = await page.getByRole('region', { name: 'Request', exact: true }).textContent();
    assert.match(request, /authorization: \[redacted\]/);
    assert.match(await page.getByRole('region', { name: 'Answer', exact: true }).textContent(), /^200/);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'The tool renamed-again is saved' }).waitFor();
    const saved = page.getByRole('region', { name: 'The saved tool' });
    await saved.getByRole('button', { name: 'Call it as a new key' }).click();
    await saved.getByText('succeeded', { exact: true }).waitFor();
  });
});

test('an address of a description leads to the import, and examples are valid', async () => {
  await server.signIn();
  const storageState = await signedIn(browser, server.origin);
  await visit(browser, server.origin, { storageState }, async (page) => {
    await page.goto('/ui/projects/demo/new-tool');
    await settled(page);
    await page.getByText('Start from an example instead').click();
    for (const name of ['HTTP request', 'Web page reader', 'Fixed answer']) {
      await page.getByRole('button', { name, exact: true }).click();
      await becomes(() => page.getByRole('button', { name: 'Save', exact: true }).isEnabled(), true);
    }
    await page.getByLabel('Paste a URL').fill('https://api.example.com/openapi.json');
    await page.getByRole('button', { name: 'Fill in the form' }).click();
    await page.getByRole('link', { name: 'Import the API' }).click();
    await page.waitForURL('**/imports/new?**');
    await becomes(() => page.getByRole('textbox', { name: 'Address' }).inputValue(), 'https://api.example.com/openapi.json');
  });
});
