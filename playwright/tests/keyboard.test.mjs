import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Palette } from '../pages/palette.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { UploadPage } from '../pages/upload.mjs';
import { settled, visit } from '../support/browser.mjs';
import { press, tabTo, walk } from '../support/keyboard.mjs';
import { PAGES, lively } from '../support/pages.mjs';
import { ADMIN } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const TOOL = `name: typed
type: openapi
description: Written without a mouse.
options: { http: { base_url: "https://weather.example", path: "/typed" } }
`;

test('a whole task needs no mouse', () =>
  visit(stage.browser, stage.server.origin, { refusals: ['/auth/me'] }, async (page) => {
    const { keyboard } = page;
    await page.goto('/ui/projects/demo/overview');
    await new SignInPage(page).ready();
    await page.waitForFunction(() => document.activeElement?.id === 'username');
    await keyboard.type(ADMIN.username);
    await keyboard.press('Tab');
    await keyboard.type(ADMIN.password);
    await keyboard.press('Enter');
    await page.waitForURL('**/demo/overview');
    await settled(page);

    const palette = new Palette(page);
    const upload = new UploadPage(page);
    await palette.take('upload', 'Upload');
    await page.waitForURL('**/demo/upload');
    await tabTo(page, upload.editor.field);
    await keyboard.insertText(TOOL);
    await press(page, upload.check);
    await upload.outlook.waitFor();
    await press(page, upload.apply);
    await upload.applied.waitFor();

    await palette.take('typed', /^typed/);
    await page.getByRole('heading', { name: 'typed', level: 1 }).waitFor();
    await press(page, page.getByRole('button', { name: 'Definition', exact: true }));
    await page.waitForURL('**tab=definition');
    const text = page.getByRole('textbox', { name: 'Definition as YAML' });
    await tabTo(page, text);
    await keyboard.press('Control+Home');
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await keyboard.press('End');
    await keyboard.type(' And edited.');
    await press(page, page.getByRole('button', { name: 'Review changes' }));
    const review = page.getByRole('dialog', { name: 'Review changes' });
    await tabTo(page, review.getByLabel('Note'));
    await keyboard.type('no mouse');
    await press(page, review.getByRole('button', { name: 'Save', exact: true }));
    await page.getByText('Saved as a new revision.').waitFor();
    const saved = await stage.server.get('/projects/demo/tools/typed');
    assert.match(saved.description, /And edited\.$/);
    const { items } = await stage.server.get('/projects/demo/tools/typed/revisions');
    assert.equal(items[0].note, 'no mouse');
  }));

stage.story('rows, the search and the help have keys of their own', async (page) => {
  const { keyboard } = page;
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.goto('/ui/projects/demo/tools');
  await settled(page);
  await keyboard.press('j');
  const first = await focused();
  await keyboard.press('j');
  const second = await focused();
  assert.notEqual(first, second);
  await keyboard.press('k');
  assert.equal(await focused(), first);
  const chosen = page.getByRole('checkbox', { name: `Select ${first}`, exact: true });
  await keyboard.press('x');
  await becomes(() => chosen.isChecked(), true);
  await keyboard.press('x');
  await becomes(() => chosen.isChecked(), false);
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: first, level: 1 }).waitFor();
  await page.goBack();
  await settled(page);
  await keyboard.press('/');
  await becomes(() => page.getByRole('searchbox').evaluate((field) => field === document.activeElement), true);
  await keyboard.type('j?k');
  await becomes(() => page.getByRole('searchbox').inputValue(), 'j?k', 'who types is left alone');
  await keyboard.press('Tab');
  await page.getByRole('heading', { level: 1 }).focus();
  await keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await help.getByText('Select the row').waitFor();
  await keyboard.press('Escape');
  await help.waitFor({ state: 'hidden' });
});

stage.story('closing a dialog gives the focus back', async (page) => {
  await page.goto('/ui/projects/demo/keys');
  await settled(page);
  const button = page.getByRole('button', { name: 'New key' });
  await press(page, button);
  await page.getByRole('dialog', { name: 'New key' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'New key' }).waitFor({ state: 'hidden' });
  await becomes(() => button.evaluate((one) => one === document.activeElement), true);
});

stage.story('the palette keeps the focus until it is closed, and gives it back', async (page) => {
  await page.goto('/ui/projects/demo/keys');
  await settled(page);
  const palette = new Palette(page);
  const button = page.getByRole('button', { name: 'New key' });
  const isFocused = (one) => one.evaluate((element) => element === document.activeElement);
  await button.focus();
  await page.keyboard.press('Control+k');
  await palette.entries.first().waitFor();
  await page.keyboard.press('Tab');
  assert.ok(await isFocused(palette.field));
  await page.keyboard.press('Escape');
  await palette.field.waitFor({ state: 'hidden' });
  await becomes(() => isFocused(button), true);

  await page.keyboard.press('Control+k');
  await palette.field.waitFor();
  await page.mouse.click(5, 400);
  await palette.field.waitFor({ state: 'hidden' });
});

stage.story('a drawer keeps the focus until it is closed, and gives it back', async (page) => {
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  const row = page.getByRole('rowheader').getByRole('button').first();
  await press(page, row);
  const drawer = page.getByRole('dialog', { name: 'Record' });
  await drawer.getByText('Outcome').waitFor();
  const holds = () => drawer.evaluate((one) => one.contains(document.activeElement));
  const stops = await drawer.getByRole('button').or(drawer.getByRole('link')).count();
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let step = 0; step < stops + 2; step += 1) {
      await page.keyboard.press(key);
      await becomes(holds, true, `after ${key}, ${step + 1} times`);
    }
  }
  // What lies behind cannot be pressed.
  const behind = await row.boundingBox();
  assert.ok(behind.y > 0, 'what lies behind stays where it is');
  await page.mouse.click(behind.x + 5, behind.y + 5);
  assert.ok(await drawer.isVisible());
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  await page.waitForURL((address) => !address.searchParams.has('record'));
  await becomes(() => row.evaluate((one) => one === document.activeElement), true);
});

stage.story('the palette opens the dialog of a new key', async (page) => {
  await page.goto('/ui/projects/demo/overview');
  await settled(page);
  await new Palette(page).take('new key', 'New key');
  const dialog = page.getByRole('dialog', { name: 'New key' });
  await dialog.getByLabel('Name').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.waitForURL((address) => !address.searchParams.has('new'));
});

stage.story('on every page one sees where the focus is, and gets on', async (page) => {
  const faults = [];
  for (const it of PAGES) {
    await page.goto(lively(it));
    await settled(page);
    try {
      assert.ok((await walk(page)) >= 10, 'there are more stops than that');
    } catch (error) {
      faults.push(`${it.name}: ${error.message}`);
    }
  }
  assert.deepEqual(faults, []);
});
