import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Frame } from '../pages/frame.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { ToolsPage } from '../pages/tools.mjs';
import { launch, visit } from '../support/browser.mjs';
import { ADMIN, startSeeded } from '../support/server.mjs';
import { becomes } from '../support/wait.mjs';

const DEMO = '/ui/projects/demo/tools';

let server;
let browser;
before(async () => {
  server = await startSeeded();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const story = (options, run) => () => visit(browser, server.origin, options, run);

test('a wrong password is reported, and the form stays', story({ refusals: ['/auth/login'] }, async (page) => {
  const form = new SignInPage(page);
  await form.open();
  await form.signIn({ ...ADMIN, password: 'not this one' });
  await form.refusal.waitFor();
  await becomes(() => form.username.inputValue(), ADMIN.username);
  assert.equal(await form.password.getAttribute('aria-invalid'), 'true');
  await becomes(() => form.password.evaluate((field) => field === document.activeElement), true);
  assert.equal(new URL(page.url()).pathname, '/ui/sign-in');
}));

test('after signing in one is where one wanted to go', story({ refusals: ['/auth/me'] }, async (page) => {
  await page.goto(`${DEMO}?q=web`);
  const form = new SignInPage(page);
  await form.ready();
  assert.equal(await form.ended.count(), 0, 'there was no session that could have ended');
  await form.signIn(ADMIN);
  await page.waitForURL(`**${DEMO}?q=web`);
  const tools = new ToolsPage(page);
  await tools.rows.filter({ hasText: 'search-web' }).waitFor();
}));

test('signing in needs no mouse', story({}, async (page) => {
  const form = new SignInPage(page);
  await form.open(`?next=${encodeURIComponent(DEMO)}`);
  await page.waitForFunction(() => document.activeElement?.id === 'username');
  await page.keyboard.type(ADMIN.username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(ADMIN.password);
  await page.keyboard.press('Enter');
  await new ToolsPage(page).rows.first().waitFor();
}));

test('what is typed before the dashboard is ready is kept', story({}, async (page) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`/ui/sign-in?next=${encodeURIComponent(DEMO)}`, { waitUntil: 'commit' });
  const form = new SignInPage(page);
  await form.username.fill(ADMIN.username);
  await form.password.fill(ADMIN.password);
  await becomes(() => form.button.isDisabled(), true);
  release();
  await form.ready();
  await becomes(() => form.username.inputValue(), ADMIN.username);
  await becomes(() => form.password.inputValue(), ADMIN.password);
  await form.button.click();
  await new ToolsPage(page).rows.first().waitFor();
}));

test('taking over the form moves nothing', story({}, async (page) => {
  await page.addInitScript(() => {
    window.shift = 0;
    const add = (list) => list.getEntries().forEach((entry) => (window.shift += entry.value));
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
  });
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/ui/sign-in', { waitUntil: 'commit' });
  const form = new SignInPage(page);
  await form.button.waitFor();
  const before = await form.button.boundingBox();
  release();
  await form.ready();
  assert.deepEqual(await form.button.boundingBox(), before);
  const shift = await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shift)))),
  );
  assert.ok(shift <= 0.02, `layout shift ${shift}`);
}));

test('without JavaScript the page says why it does not work', story({ javaScriptEnabled: false }, async (page) => {
  await page.goto('/ui/sign-in');
  // Text selectors pass over `noscript`, so its content is asked for by structure.
  await page.locator('noscript p').waitFor();
  assert.match(await page.locator('noscript p').textContent(), /needs JavaScript and WebAssembly/);
  await becomes(() => page.getByRole('button', { name: 'Sign in' }).isDisabled(), true);
  await page.goto('/ui/');
  await page.locator('noscript h1').waitFor();
  await becomes(() => page.locator('noscript h1').textContent(), 'Toolgate needs JavaScript');
}));

test('when the dashboard cannot be loaded the page says so', story({}, async (page) => {
  await page.addInitScript(() => {
    // The page's own report of the failure is expected; anything else on the console still counts.
    console.error = () => {};
  });
  await page.route('**/*.wasm', (route) => route.fulfill({ status: 200, contentType: 'application/wasm', body: 'no' }));
  await page.goto('/ui/sign-in');
  await page.getByText('The dashboard could not be loaded.').waitFor();
  await page.getByRole('button', { name: 'Reload the page' }).waitFor();
}));

for (const next of ['//evil.example/', 'https://evil.example/ui/', '/ui/..//evil.example', 'javascript:alert(1)']) {
  test(`signing in does not lead to ${next}`, story({}, async (page) => {
    const form = new SignInPage(page);
    await form.open(`?next=${encodeURIComponent(next)}`);
    await form.signIn(ADMIN);
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).origin, server.origin);
  }));
}

test('scripts can read no credential', story({}, async (page, profile) => {
  const form = new SignInPage(page);
  await form.open(`?next=${encodeURIComponent(DEMO)}`);
  await form.signIn(ADMIN);
  await new ToolsPage(page).rows.first().waitFor();
  const cookies = await profile.cookies();
  assert.equal(cookies.length, 1);
  assert.equal(cookies[0].httpOnly, true);
  assert.notEqual(cookies[0].sameSite, 'None');
  const readable = await page.evaluate(() =>
    [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.documentElement.outerHTML].join(' '),
  );
  assert.ok(!readable.includes(cookies[0].value));
  assert.ok(!readable.includes(ADMIN.password));
  assert.equal(await page.evaluate(() => document.cookie), '');
}));

test('signing out ends the session', story({ refusals: ['/auth/me'] }, async (page, profile) => {
  const form = new SignInPage(page);
  await form.open(`?next=${encodeURIComponent(DEMO)}`);
  await form.signIn(ADMIN);
  await new ToolsPage(page).rows.first().waitFor();
  const before = await profile.cookies();
  const frame = new Frame(page);
  await frame.account.click();
  await frame.signOut.click();
  await form.ready();
  assert.deepEqual(await profile.cookies(), []);

  await profile.addCookies(before);
  await page.goto(DEMO);
  await form.ready();
  assert.match(page.url(), /\/ui\/sign-in/, 'the old cookie is worth nothing');
}));
