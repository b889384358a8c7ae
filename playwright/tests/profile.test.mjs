// The profile of a user: sign-ins that end elsewhere, and preferences that hold in every browser.
import assert from 'node:assert/strict';

import { Frame } from '../pages/frame.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { settled, signedIn, visit } from '../support/browser.mjs';
import { member } from '../support/people.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes, until } from '../support/wait.mjs';

const stage = setStage();

stage.story('a user sees where they are signed in and ends the others', {}, async () => {
  const { browser, server } = stage;
  const eve = await member(server, 'eve', 'viewer');
  const [here, first, second] = [
    await signedIn(browser, server.origin, eve),
    await signedIn(browser, server.origin, eve),
    await signedIn(browser, server.origin, eve),
  ];
  const isSignedIn = async ({ cookies }) => {
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const answer = await fetch(`${server.origin}/auth/me`, { headers: { cookie } });
    return answer.ok;
  };
  await visit(browser, server.origin, { storageState: here }, async (page) => {
    await page.goto('/ui/projects/demo/tools');
    await new Frame(page).account.click();
    await page.getByRole('link', { name: 'Your profile' }).click();
    const region = page.getByRole('region', { name: 'Sign-ins', exact: true });
    const rows = region.getByRole('row').filter({ has: page.getByRole('cell') });
    await becomes(() => rows.count(), 3, 'three sign-ins');
    assert.equal(await region.getByText('this one').count(), 1);
    assert.match(await rows.first().innerText(), /Chrome on Linux/);
    assert.match(await rows.first().innerText(), /127\.0\.0\.1/);
    await assertAccessible(page, 'the profile');

    await rows.first().getByRole('button', { name: /^Sign out/ }).click();
    await becomes(() => rows.count(), 2, 'one has ended');
    assert.deepEqual([await isSignedIn(first), await isSignedIn(second)], [true, false], 'the newest has ended');

    await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await becomes(() => rows.count(), 1, 'all others have ended');
    assert.equal(await isSignedIn(first), false);
    await page.reload();
    await region.getByText('this one').waitFor();
  });
});

stage.story('a choice that a reload overtakes is kept, and stored once the server answers', {}, async () => {
  const { browser, server } = stage;
  const ann = await member(server, 'ann', 'auditor');
  const storageState = await signedIn(browser, server.origin, ann);
  await visit(browser, server.origin, { storageState }, async (page) => {
    const preferences = `${server.origin}/auth/preferences`;
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await page.goto('/ui/profile');
    await settled(page);
    // The request that stores the choice is never answered.
    const sent = new Promise((resolve) => {
      page.route(preferences, (route) => (route.request().method() === 'PUT' ? resolve() : route.continue()));
    });
    await page.getByRole('radio', { name: 'Dark' }).check();
    await sent;
    await page.unroute(preferences);
    await page.reload();
    await until('stored', async () => (await (await page.request.get(preferences)).json()).theme === 'dark');
    assert.equal(await theme(), 'dark');
    await until('confirmed', () => page.evaluate(() => sessionStorage.getItem('toolgate.unconfirmed-preferences') === null));
  });
});

stage.story('preferences hold in another browser', {}, async () => {
  const { browser, server } = stage;
  const tom = await member(server, 'tom', 'auditor');
  const [one, other] = [await signedIn(browser, server.origin, tom), await signedIn(browser, server.origin, tom)];
  await visit(browser, server.origin, { storageState: one }, async (page) => {
    await page.goto('/ui/profile');
    await page.getByRole('radio', { name: 'Dark' }).check();
    await page.getByLabel('Density').selectOption('compact');
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await until('stored', async () => {
      const kept = await (await page.request.get(`${server.origin}/auth/preferences`)).json();
      return kept.theme === 'dark' && kept.density === 'compact' && kept.time_zone === 'Asia/Tokyo';
    });
  });
  await visit(browser, server.origin, { storageState: other }, async (page) => {
    await page.goto('/ui/projects/demo/records');
    await settled(page);
    await becomes(() => page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'the theme');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.density), 'compact');
    await page.goto('/ui/profile');
    const until = page.locator('[data-label=Until]').first();
    await until.waitFor();
    // Tokyo is nine hours ahead of UTC, all year.
    const { items } = await (await page.request.get(`${server.origin}/auth/sign-ins`)).json();
    const there = new Date(Date.parse(items[0].expires_at) + 9 * 3600e3).toISOString().slice(0, 19).replace('T', ' ');
    assert.ok((await until.innerText()).startsWith(there), `${await until.innerText()} ${there}`);
  });
});
