import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Frame } from '../pages/frame.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { ToolsPage } from '../pages/tools.mjs';
import { PHONE, launch, overflow, signedIn, visit } from '../support/browser.mjs';
import { ADMIN, startSeeded } from '../support/server.mjs';
import { becomes } from '../support/wait.mjs';

const ALL = ['read-page', 'search-web', 'weather-of-the-north-atlantic-shipping-areas'];

let server;
let browser;
let session;
before(async () => {
  server = await startSeeded();
  browser = await launch();
  session = await signedIn(browser, server.origin);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A visit of somebody who is signed in. */
const story = (options, run) => () =>
  visit(browser, server.origin, { storageState: session, ...options }, (page, profile) =>
    run(page, new ToolsPage(page), profile),
  );

test('the list tells name, type, groups, states and revision', story({}, async (page, tools) => {
  await tools.open('demo');
  assert.deepEqual(await tools.shows(...ALL), ALL);
  assert.equal(await page.title(), 'Tools · Toolgate');
  const row = await tools.row('search-web').textContent();
  for (const part of ['Searches the web', 'openapi', 'knowledge', 'research', 'moves to analysis', '1']) {
    assert.ok(row.includes(part), `${part} in ${row}`);
  }
  const closed = await tools.row(ALL[2]).textContent();
  assert.ok(closed.includes('None; only by *'), closed);
  assert.ok(closed.includes('Never open'), closed);
  assert.ok((await tools.row('read-page').textContent()).includes('Any state'));
}));

test('the search is in the address', story({}, async (page, tools) => {
  await tools.open('demo');
  await tools.shows(...ALL);
  await tools.search.fill('read-page');
  await page.waitForURL('**?q=read-page');
  assert.deepEqual(await tools.shows('read-page'), ['read-page']);
  await page.reload();
  assert.deepEqual(await tools.shows('read-page'), ['read-page']);
  await becomes(() => tools.search.inputValue(), 'read-page');
  await tools.search.fill('zebra & <b>');
  await tools.noMatch.waitFor();
  await becomes(() => tools.noMatch.textContent(), 'No tool matches “zebra & <b>”');
  await page.getByRole('link', { name: 'Show all tools' }).click();
  assert.deepEqual(await tools.shows(...ALL), ALL);
  await becomes(() => tools.search.inputValue(), '');
}));

test('a failed request is shown with its id, and can be tried again', story(
  { refusals: ['/projects/demo/tools'] },
  async (page, tools) => {
    let failures = 1;
    await page.route('**/projects/demo/tools?*', async (route) => {
      if (failures-- <= 0) return route.continue();
      await route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: 'urn:toolgate:problem:unavailable',
          title: 'The server cannot answer now',
          status: 503,
          detail: 'The database is locked.',
          code: 'unavailable',
          retryable: true,
          request_id: '0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11',
        }),
      });
    });
    await tools.open('demo');
    await tools.problem.waitFor();
    const shown = await tools.problem.textContent();
    for (const part of ['cannot answer now', 'database is locked', '0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11']) {
      assert.ok(shown.includes(part), `${part} in ${shown}`);
    }
    await tools.retry.click();
    assert.deepEqual(await tools.shows(...ALL), ALL);
  },
));

const ABSENT = ['tools', 'quarantine', 'notifications'].map((list) => `/projects/absent/${list}`);

test('the page of an absent project shows the error with the id of the request', story({ refusals: ABSENT }, async (_page, tools) => {
  await tools.open('absent');
  await tools.problem.waitFor();
  assert.match(await tools.problem.textContent(), /Request [0-9a-f-]{36}/);
}));

test('a session that ends leads to the sign-in page and back', story(
  { refusals: ['/projects/demo/tools'] },
  async (page, tools, profile) => {
    await tools.open('demo');
    await tools.shows(...ALL);
    await profile.clearCookies();
    await tools.search.fill('read');
    const form = new SignInPage(page);
    await form.ready();
    await form.ended.waitFor();
    await form.signIn(ADMIN);
    await page.waitForURL('**/ui/projects/demo/tools?q=read');
    await tools.rows.first().waitFor();
  },
));

test('an empty project leads to where its first tool is made', story({}, async (page, tools) => {
  await tools.open('blank');
  await tools.empty.waitFor();
  await page.getByRole('main').getByRole('link', { name: 'New tool' }).first().click();
  await page.getByRole('heading', { name: 'New tool', level: 1 }).waitFor();
}));

test('copying puts the text on the clipboard', story(
  { permissions: ['clipboard-read', 'clipboard-write'] },
  async (page, tools) => {
    await page.goto('/ui/projects/demo/connect');
    const copy = page.getByRole('button', { name: /^Copy: / }).first();
    const label = await copy.getAttribute('aria-label');
    await copy.click();
    await page.getByText('Copied to the clipboard').waitFor({ state: 'attached' });
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await tools.snippet(label.slice('Copy: '.length)));
  },
));

test('projects are switched with the keyboard, and the new page is announced', story({}, async (page, tools) => {
  await server.createProject('other', 'Other project');
  await tools.open('demo');
  await tools.shows(...ALL);
  const frame = new Frame(page);
  await frame.projects.focus();
  await page.keyboard.press('Enter');
  assert.equal(await frame.projects.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Escape');
  assert.equal(await frame.projects.getAttribute('aria-expanded'), 'false');
  await becomes(() => frame.projects.evaluate((button) => button === document.activeElement), true);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /Other project/ }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/ui/projects/other/overview');
  await page.getByRole('heading', { name: 'Nothing has been called yet' }).waitFor();
  await frame.projects.getByText('Other project').waitFor();
  await page.goBack();
  assert.deepEqual(await tools.shows(...ALL), ALL);
}));

test('the theme follows the system until one is chosen, and is remembered', story(
  { colorScheme: 'dark' },
  async (page, tools) => {
    const frame = new Frame(page);
    await tools.open('demo');
    await tools.shows(...ALL);
    const dark = await frame.ground();
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await frame.ground();
    assert.notEqual(dark, light);
    await frame.chooseTheme('Dark');
    await becomes(() => frame.ground(), dark);
    await page.reload({ waitUntil: 'commit' });
    assert.equal(await frame.theme(), 'dark');
    await tools.shows(...ALL);
    await becomes(() => frame.ground(), dark);
    await frame.chooseTheme('System');
    await becomes(() => frame.ground(), light);
  },
));

for (const width of [320, 390, 768, 1920]) {
  test(`nothing is wider than a window of ${width} pixels`, story(
    { viewport: { ...PHONE, width } },
    async (page, tools) => {
      await tools.open('demo');
      await tools.shows(...ALL);
      assert.ok((await overflow(page)) <= 0, 'list');
      await new Frame(page).account.click();
      assert.ok((await overflow(page)) <= 0, 'menu');
      await page.goto('/ui/projects');
      await page.getByRole('link', { name: /Demonstration/ }).first().waitFor();
      assert.ok((await overflow(page)) <= 0, 'projects');
      await server.createProject(`empty-${width}`, 'Nothing in it');
      await tools.open(`empty-${width}`);
      await tools.empty.waitFor();
      assert.ok((await overflow(page)) <= 0, 'empty');
      await page.goto('/ui/sign-in');
      await new SignInPage(page).ready();
      assert.ok((await overflow(page)) <= 0, 'sign-in');
    },
  ));
}
