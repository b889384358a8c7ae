// The dashboard in the reader's language: which one, and that nothing of a page is left in English or does not fit.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { overflow, settled, signedIn, visit } from '../support/browser.mjs';
import { PAGES, lively } from '../support/pages.mjs';
import { member } from '../support/people.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const GERMAN = { locale: 'de-DE' };
const catalogue = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../frontend/languages/de.json'), 'utf8'));
/** Texts of which the English one is not a German one too. */
const english = Object.keys(catalogue)
  .map((text) => text.trim())
  .filter((text) => /[a-z]{2}/i.test(text) && !Object.values(catalogue).some((german) => german.trim() === text));

const stage = setStage();
const story = stage.inOneWindow(GERMAN);

/**
 * Texts and labels of the page that the catalogue has in German. Codes, what is written, and choices that are written as they read
 * are data, and so is the name of the server as a caller.
 */
function left(page, known) {
  return page.evaluate((known) => {
    const texts = new Set(known.filter((text) => text !== 'server'));
    const found = new Set();
    const see = (text) => texts.has(text?.trim()) && found.add(text.trim());
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const { parentElement: of, data } = nodes.currentNode;
      const isData = of.closest('code, pre, .mono, .cm-editor, textarea, script, noscript') || (of.tagName === 'OPTION' && (of.value === data || /^\d+$/.test(of.value)));
      if (!isData) see(data);
    }
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [data-label]')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'data-label']) see(element.getAttribute(name));
    }
    return [...found];
  }, known);
}

for (const it of PAGES) {
  story(`${it.name} is in German and fits`, async (page) => {
    await page.setViewportSize({ width: 320, height: 900 });
    await page.goto(lively(it));
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
    assert.deepEqual(await left(page, english), []);
    assert.ok((await overflow(page)) <= 0, '320 pixels');
  });
}

stage.story('a German browser signs in in German', { ...GERMAN, storageState: undefined }, async (page) => {
  await page.goto('/ui/sign-in');
  await page.getByRole('button', { name: 'Anmelden' }).waitFor();
  await page.getByText('Eine Tür zwischen Ihren Agenten und deren Tools.').waitFor();
  assert.deepEqual(await left(page, english), []);
});

for (const [fault, answer] of [
  ['does not come', (route) => route.abort()],
  ['is damaged', (route) => route.fulfill({ body: '{"Tools": "Werk', contentType: 'application/json' })],
]) {
  stage.story(`where the catalogue ${fault}, the page is in English`, { ...GERMAN, refusals: ['*'] }, async (page) => {
    await page.route('**/languages/de.*', answer);
    await page.goto('/ui/projects/demo/upload');
    await page.getByRole('heading', { name: 'Upload', level: 1 }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  });
}

stage.story('a browser in a language without a catalogue gets English', { locale: 'fr-FR' }, async (page) => {
  await page.goto('/ui/projects/demo/tools');
  await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
});

stage.story('the language that was chosen holds in another browser', {}, async () => {
  const { browser, server } = stage;
  const ida = await member(server, 'ida', 'viewer');
  const [here, there] = [await signedIn(browser, server.origin, ida), await signedIn(browser, server.origin, ida)];
  await visit(browser, server.origin, { storageState: here }, async (page) => {
    await page.goto('/ui/profile');
    await page.getByLabel('Language').selectOption('Deutsch');
    await page.getByRole('heading', { name: 'Darstellung' }).waitFor();
    await becomes(async () => (await (await page.request.get(`${server.origin}/auth/preferences`)).json()).language, 'de', 'stored');
  });
  await visit(browser, server.origin, { storageState: there }, async (page) => {
    await page.goto('/ui/profile');
    const chosen = page.getByLabel('Sprache');
    await chosen.waitFor();
    await chosen.selectOption('English');
    await page.getByRole('heading', { name: 'Appearance' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  });
});
