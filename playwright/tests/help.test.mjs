// The guides of the product: from the server itself, searchable, linked from pages, found by the palette.
import assert from 'node:assert/strict';

import { Palette } from '../pages/palette.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { PAGES, lively } from '../support/pages.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

stage.story('guides are read and searched without a sign-in', { storageState: undefined }, async (page) => {
  await page.goto('/help');
  await page.getByRole('searchbox', { name: 'Search the guides' }).fill('requiring sessions');
  await page.getByRole('searchbox', { name: 'Search the guides' }).press('Enter');
  await page.getByRole('main').getByRole('link', { name: 'Requiring sessions' }).click();
  await page.waitForURL(/\/help\/sessions#requiring-sessions$/);
  await page.getByRole('heading', { name: 'Requiring sessions' }).waitFor();
  await assertAccessible(page, 'a guide');
  for (const width of [390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `at ${width}`);
  }
});

stage.story('pages lead to their guides', async (page) => {
  const { items } = await stage.server.get('/help/search');
  const known = new Set(items.map(({ path }) => path));
  assert.ok(known.size > 20);
  let led = 0;
  for (const it of PAGES.filter(({ name }) => ['alerts', 'keys', 'states', 'mcp-servers', 'settings', 'profile'].includes(name))) {
    await page.goto(lively(it));
    const link = page.getByRole('main').getByRole('link', { name: /^Learn more about/ }).first();
    const [path] = (await link.getAttribute('href')).split('#');
    assert.ok(known.has(path), `${it.name}: ${path}`);
    led += 1;
  }
  assert.equal(led, 6);
});

stage.story('the palette finds guides, settings, hosts and actions', async (page) => {
  await stage.server.put('/projects/demo/egress', { hosts: ['https://only-here.example'] });
  await page.goto('/ui/projects/demo/tools');
  await settled(page);
  const palette = new Palette(page);
  for (const [words, entry] of [
    ['webhook', 'Webhook for alerts and notifications'],
    ['only-here', 'https://only-here.example'],
    ['new key', 'New key'],
    ['requiring sessions', /Requiring sessions/],
  ]) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Search for/ }).fill(words);
    await page.getByRole('option', { name: entry }).first().waitFor();
    await page.keyboard.press('Escape');
  }
  await palette.take('webhook', 'Webhook for alerts and notifications');
  await page.waitForURL(/settings#webhook-url$/);
});
