// What holds for every page: no rule of accessibility is broken in any look, whatever the page shows; failures are told and
// mended; nothing waits for ever.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { SignInPage } from '../pages/sign-in.mjs';
import { holdAll, refuseAll } from '../support/answers.mjs';
import { Visitor, launch, settled, signedIn } from '../support/browser.mjs';
import { assertGoodInEveryLook, keepPictures } from '../support/looks.mjs';
import { OPENED, PAGES, blank, lively, pageNamed } from '../support/pages.mjs';
import { picturedOnFailure } from '../support/pictures.mjs';
import { startLively } from '../support/seed.mjs';
import { ADMIN } from '../support/server.mjs';
import { becomes } from '../support/wait.mjs';

let world;
let browser;
let visitor;
before(async () => {
  world = await startLively();
  browser = await launch();
  const storageState = await signedIn(browser, world.server.origin);
  visitor = await Visitor.enter(browser, world.server.origin, { storageState, refusals: ['*'] });
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

/** A test in the shared window. */
const story = (name, run) =>
  test(name, async () => {
    try {
      await picturedOnFailure(visitor.page, name, () => run(visitor.page));
      visitor.assertClean();
    } finally {
      await visitor.page.unrouteAll({ behavior: 'ignoreErrors' });
      visitor.faults.length = 0;
    }
  });

for (const it of PAGES) {
  story(`${it.name} with content`, async (page) => {
    await page.goto(lively(it));
    await settled(page);
    assert.match(await page.title(), /^.+ · Toolgate$/);
    assert.equal(await page.getByRole('alert').count(), 0, 'nothing failed');
    await assertGoodInEveryLook(page, it.name);
    await keepPictures(page, it.name);
  });

  if (it.hasEmpty) {
    story(`${it.name} without content`, async (page) => {
      await page.goto(blank(it));
      await settled(page);
      await assertGoodInEveryLook(page, it.name);
      await keepPictures(page, `${it.name}-empty`);
    });
  }

  if (it.waits) {
    story(`${it.name} while it waits`, async (page) => {
      const release = await holdAll(page);
      await page.goto(lively(it));
      await page.getByRole('heading', { level: 1 }).waitFor();
      assert.notEqual(await page.locator('.skeleton').count(), 0, 'it tells that it is waiting');
      await assertGoodInEveryLook(page, it.name);
      await release();
      await settled(page);
    });
  }

  if (it.reads) {
    story(`${it.name} when the server fails, and again`, async (page) => {
      const mend = await refuseAll(page);
      await page.goto(lively(it));
      const told = page.getByRole('alert').filter({ hasText: refuseAll.requestId });
      await told.first().waitFor();
      await settled(page);
      await assertGoodInEveryLook(page, it.name);
      await mend();
      const retry = page.getByRole('button', { name: 'Try again' });
      for (let left = await retry.count(); left > 0; left -= 1) {
        await retry.first().click();
        await settled(page);
      }
      await becomes(() => told.count(), 0, 'nothing is left of the failure');
    });
  }
}

for (const { name, at, open } of OPENED) {
  story(`opened: ${name}`, async (page) => {
    await page.goto(lively(pageNamed(at)));
    await settled(page);
    await open(page);
    await settled(page);
    await assertGoodInEveryLook(page, name);
    await keepPictures(page, `${at}-${name.replaceAll(' ', '-')}`);
  });
}

test('a visit loads every file once', async () => {
  const storageState = await visitor.profile.storageState();
  const newcomer = await Visitor.enter(browser, world.server.origin, { storageState });
  try {
    const loaded = [];
    newcomer.page.on('request', (request) => {
      if (request.url().includes('/ui/assets/')) loaded.push(new URL(request.url()).pathname);
    });
    await newcomer.page.goto(lively(pageNamed('tools')));
    await settled(newcomer.page);
    assert.ok(loaded.some((path) => path.endsWith('.wasm')), loaded.join());
    assert.deepEqual(loaded, [...new Set(loaded)]);
    newcomer.assertClean();
  } finally {
    await newcomer.leave();
  }
});

story('every page has named what it loads before it started', async (page) => {
  const late = {};
  for (const it of PAGES) {
    await page.goto(lively(it));
    await settled(page);
    const found = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name, initiatorType }) => name.endsWith('.wasm') && initiatorType !== 'link')
        .map(({ name }) => name.split('/').at(-1)),
    );
    if (found.length > 0) late[it.name] = found;
  }
  assert.deepEqual(late, {});
});

story('a page that is not there', async (page) => {
  await page.goto('/ui/nowhere');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await assertGoodInEveryLook(page, 'no such page');
});

story('an address of the server that is not there', async (page) => {
  await page.goto('/nowhere');
  await page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor();
  await assertGoodInEveryLook(page, 'no such address');
  await keepPictures(page, 'no-such-address');
  await page.getByRole('link', { name: 'Open the dashboard' }).click();
  await page.waitForURL('**/ui/projects');
});

test('the sign-in page', async () => {
  const stranger = await Visitor.enter(browser, world.server.origin, { refusals: ['/auth/login'] });
  try {
    const form = new SignInPage(stranger.page);
    await form.open('?next=/ui/projects&reason=ended');
    await assertGoodInEveryLook(stranger.page, 'sign-in');
    await keepPictures(stranger.page, 'sign-in');
    await form.signIn({ ...ADMIN, password: 'wrong' });
    await form.refusal.waitFor();
    await assertGoodInEveryLook(stranger.page, 'sign-in refused');
    stranger.assertClean();
  } finally {
    await stranger.leave();
  }
});
