import assert from 'node:assert/strict';

import { Frame } from '../pages/frame.mjs';
import { PHONE, overflow, settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

const ON_PHONE = { viewport: PHONE, hasTouch: true, isMobile: true };

stage.story('a tool is found, called and looked up in the record on a phone in the dark', { ...ON_PHONE, colorScheme: 'dark' }, async (page) => {
  const goTo = async (name) => {
    await page.getByRole('button', { name: 'Pages', exact: true }).tap();
    await page.getByRole('dialog', { name: 'Pages' }).getByRole('link', { name, exact: true }).tap();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await settled(page);
    assert.ok((await overflow(page)) <= 0, name);
  };
  await page.goto('/ui/projects/demo/overview');
  await settled(page);
  const [red, green, blue] = (await new Frame(page).ground()).match(/[\d.]+/g).map(Number);
  assert.ok(Math.max(red, green, blue) < 64, 'the ground is dark');
  await goTo('Tools');
  await page.getByRole('searchbox', { name: 'Search tools' }).fill('look-up');
  await page.waitForURL('**?q=look-up');
  await page.getByRole('link', { name: 'look-up', exact: true }).tap();
  await page.getByRole('textbox', { name: /^word/ }).fill('gate');
  await page.getByRole('button', { name: 'Call the tool' }).tap();
  await page.getByText('succeeded', { exact: true }).waitFor();
  assert.ok((await overflow(page)) <= 0, 'the answer');
  await goTo('Records');
  await page.locator('[data-row]').first().tap();
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByText('look-up').waitFor();
  const { width } = await record.boundingBox();
  assert.ok(width <= PHONE.width, 'the drawer is as wide as the phone at most');
});

stage.story('what is pressed on a phone is large enough', ON_PHONE, async (page) => {
  await page.goto('/ui/projects/demo/tools');
  await settled(page);
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('button, input, select, [role=button]')]
      .filter((control) => control.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .map((control) => (control.closest('label') ?? control).getBoundingClientRect().toJSON())
      .filter(({ width, height }) => width > 1 && (width < 24 || height < 24)),
  );
  assert.deepEqual(small, []);
});

stage.story('every tab is in sight on a phone', ON_PHONE, async (page) => {
  await page.goto('/ui/projects/demo/tools/look-up');
  await settled(page);
  const tabs = page.getByRole('navigation', { name: 'Views of the tool' }).getByRole('button');
  assert.equal(await tabs.count(), 5);
  for (const tab of await tabs.all()) {
    const { x, width } = await tab.boundingBox();
    assert.ok(x >= 0 && x + width <= PHONE.width, await tab.textContent());
  }
});
