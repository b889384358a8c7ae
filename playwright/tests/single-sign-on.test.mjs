import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { SignInPage } from '../pages/sign-in.mjs';
import { launch, visit } from '../support/browser.mjs';
import { CLIENT, OidcProvider } from '../support/oidc.mjs';
import { Server } from '../support/server.mjs';

const TOOLS = '/ui/projects/demo/tools';

let folder;
let provider;
let server;
let browser;
before(async () => {
  provider = await OidcProvider.start();
  folder = await mkdtemp(join(tmpdir(), 'toolgate-sign-in-'));
  const file = join(folder, 'toolgate.yaml');
  const entry = {
    id: 'corp',
    title: 'Example Corp',
    issuer: provider.issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    allow_http: true,
    system_admins: ['admins'],
    projects: [{ project: 'demo', when: ['editors'], role: 'editor', groups: ['default'] }],
  };
  await writeFile(file, JSON.stringify({ auth: { single_sign_on: [entry] } }));
  server = await Server.start({ TOOLGATE_CONFIG: file });
  provider.serve(server.origin);
  await server.signIn();
  await server.createProject('demo', 'Demo');
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  provider?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What the provider's pages ask for, which no test waits for. */
const FONTS = 'https://fonts.googleapis.com';

const story = (run) => () =>
  visit(browser, server.origin, { refusals: ['/auth/me', '/auth/sign-in/corp/callback'], others: [provider.issuer, FONTS] }, async (page) => {
    await page.route(`${FONTS}/**`, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    await run(page);
  });

/** Signs in at the provider's own pages, as a person who was not signed in there. */
async function signInThere(page, name) {
  await page.waitForURL(`${provider.issuer}/**`);
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('a person signs in at a provider, works, and signs out there', story(async (page) => {
  provider.groups.grace = ['editors'];
  await page.goto(`${TOOLS}?q=web`);
  await new SignInPage(page).ready();
  await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
  await signInThere(page, 'grace');
  await page.waitForURL(`**${TOOLS}?q=web`);
  await page.getByRole('button', { name: 'grace: account' }).click();
  assert.equal(await page.getByRole('button', { name: 'Change your password' }).count(), 0);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${provider.issuer}/**`);
  await page.getByRole('button', { name: /sign me out/ }).click();
  await page.waitForURL('**/ui/sign-in*');
  await new SignInPage(page).ready();
}));

test('a user without a mapped group sees no project', story(async (page) => {
  await page.goto('/ui/');
  await new SignInPage(page).ready();
  await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
  await signInThere(page, 'linus');
  await page.getByRole('button', { name: 'linus: account' }).waitFor();
  assert.equal(await page.getByText('Demo', { exact: true }).count(), 0);
}));

test('a sign-in that is cancelled at the provider ends on a page with the reason', story(async (page) => {
  await page.goto('/ui/sign-in');
  await new SignInPage(page).ready();
  await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
  await page.waitForURL(`${provider.issuer}/**`);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await page.getByText('access_denied').waitFor();
  await page.getByRole('link', { name: 'Open the dashboard' }).click();
  await new SignInPage(page).ready();
}));
