// What holds for every page: no rule of accessibility is broken in any look, whatever the page shows; nothing is loaded twice or
// late. What they show while answers are missing: `missing.test.mjs`.
import assert from 'node:assert/strict';

import { SignInPage } from '../pages/sign-in.mjs';
import { settled } from '../support/browser.mjs';
import { assertGoodInEveryLook, keepPictures } from '../support/looks.mjs';
import { OPENED, PAGES, blank, lively, pageNamed } from '../support/pages.mjs';
import { setStage } from '../support/stage.mjs';
import { ADMIN } from '../support/server.mjs';

const stage = setStage();
const story = stage.inOneWindow();

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

stage.story('a visit loads every file once', async (page) => {
  const loaded = [];
  page.on('request', (request) => {
    if (request.url().includes('/ui/assets/')) loaded.push(new URL(request.url()).pathname);
  });
  await page.goto(lively(pageNamed('tools')));
  await settled(page);
  assert.ok(loaded.some((path) => path.endsWith('.wasm')), loaded.join());
  assert.deepEqual(loaded, [...new Set(loaded)]);
});

/** Shows a refusal, and what lifts it is loaded with the first one. */
const REFUSES = 'simulator';
/** Loads the drawing of states, which is weighed apart, once there are states to draw. */
const DRAWS = 'states';
/** They are views of a page that others open far more often, and load their own code. */
const VIEWS = ['mcp-server-import', 'mcp-server-definition', 'tool-definition', 'tool-clone'];

story('every page has named what it loads before it started', async (page) => {
  const late = {};
  for (const it of PAGES.filter(({ name }) => ![REFUSES, ...VIEWS].includes(name))) {
    await page.goto(it.name === DRAWS ? blank(it) : lively(it));
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

stage.story('an address of the server that is not there', { refusals: ['/nowhere'] }, async (page) => {
  await page.goto('/nowhere');
  await page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor();
  await assertGoodInEveryLook(page, 'no such address');
  await keepPictures(page, 'no-such-address');
  await page.getByRole('link', { name: 'Open the dashboard' }).click();
  await page.waitForURL('**/ui/projects');
});

stage.story('the sign-in page', { storageState: undefined, refusals: ['/auth/login'] }, async (page) => {
  const form = new SignInPage(page);
  await form.open('?next=/ui/projects&reason=ended');
  await assertGoodInEveryLook(page, 'sign-in');
  await keepPictures(page, 'sign-in');
  await form.signIn({ ...ADMIN, password: 'wrong' });
  await form.refusal.waitFor();
  await assertGoodInEveryLook(page, 'sign-in refused');
});
