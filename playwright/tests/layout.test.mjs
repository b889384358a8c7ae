// What is laid out: nothing is wider than a narrow window, cut, broken or squeezed.
import assert from 'node:assert/strict';

import { overflow, settled } from '../support/browser.mjs';
import { PAGES, lively, pageNamed } from '../support/pages.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();
const story = stage.inOneWindow();

const at = async (page, width, path) => {
  await page.setViewportSize({ width, height: 900 });
  await page.goto(path);
  await settled(page);
};

for (const it of PAGES) {
  story(`${it.name} fits into narrow windows`, async (page) => {
    for (const width of [320, 360, 780]) {
      await at(page, width, lively(it));
      assert.ok((await overflow(page)) <= 0, `${width} pixels`);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll('button, a.button')]
          .filter((control) => control.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
          .map((control) => [control.getAttribute('aria-label') ?? control.textContent, control.getBoundingClientRect()])
          .filter(([, box]) => box.width > 1 && box.width < 24)
          .map(([name, box]) => `${name}: ${box.width}`),
      );
      assert.deepEqual(small, [], `squeezed at ${width} pixels`);
    }
  });
}

for (const width of [320, 360, 1280, 1920]) {
  story(`the fields of limits show what is in them at ${width} pixels`, async (page) => {
    await stage.server.put('/projects/demo/limits', {
      limits: [
        { name: 'every-external-subject', subject: { kind: 'each_external' }, requests: { count: 100000, per_s: 86400 }, concurrency: 1000 },
        { name: 'the-group-of-readers', subject: { kind: 'group', group: 'knowledge' }, concurrency: 20 },
      ],
    });
    await at(page, width, lively(pageNamed('limits')));
    const cut = await page.locator('.table-form').evaluate((form) => {
      const { left, right } = form.closest('.panel').getBoundingClientRect();
      const pen = document.createElement('canvas').getContext('2d');
      return [...form.querySelectorAll('input, select')]
        .filter((field) => field.checkVisibility())
        .filter((field) => {
          const style = getComputedStyle(field);
          const box = field.getBoundingClientRect();
          pen.font = style.font;
          const text = field.tagName === 'SELECT' ? field.selectedOptions[0].textContent : field.value;
          const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
          return pen.measureText(text).width > room + 0.5 || box.left < left || box.right > right;
        })
        .map((field) => field.ariaLabel);
    });
    assert.deepEqual(cut, []);
  });
}

story('names of secrets stay in one line', async (page) => {
  const name = 'WEATHER_SERVICE_KEY_EU';
  await stage.server.put(`/projects/demo/secrets/${name}`, { value: 'a value that nobody reads' });
  for (const width of [1024, 1280, 1920]) {
    await at(page, width, lively(pageNamed('secrets')));
    const lines = await page.getByText(name, { exact: true }).evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    });
    assert.equal(lines, 1, `${width} pixels`);
  }
});

story('the cards of the overview leave no hole', async (page) => {
  for (const width of [1280, 1920]) {
    await at(page, width, lively(pageNamed('overview')));
    const rows = await page.locator('main .columns').evaluateAll((groups) =>
      groups.map((group) => {
        const { left, right } = group.getBoundingClientRect();
        const cards = [...group.children].map((card) => card.getBoundingClientRect());
        const tops = new Set(cards.map((card) => Math.round(card.top)));
        const covered = cards.reduce((sum, card) => sum + card.width, 0) / tops.size;
        return { covered: covered / (right - left), lines: tops.size };
      }),
    );
    assert.equal(rows.length, 2, `${width} pixels`);
    for (const { covered, lines } of rows) assert.ok(lines === 1 && covered > 0.9, `${width} pixels: ${covered} in ${lines}`);
  }
});

story('no card of the overview touches another', async (page) => {
  for (const width of [390, 1280, 1920]) {
    await at(page, width, lively(pageNamed('overview')));
    await page.getByRole('heading', { name: 'To look at' }).waitFor();
    const touching = await page.locator('main .panel, main .figure').evaluateAll((cards) => {
      const boxes = cards.map((card) => [card.textContent.slice(0, 20), card.getBoundingClientRect()]);
      const near = ([, a], [, b]) =>
        a.left < b.right && b.left < a.right && a.bottom <= b.top + 1 && b.top - a.bottom < 8;
      return boxes.flatMap((one) => boxes.filter((other) => one !== other && near(one, other)).map((other) => `${one[0]} / ${other[0]}`));
    });
    assert.deepEqual(touching, [], `${width} pixels`);
  }
});

story('tables and matrices use a wide screen', async (page) => {
  for (const name of ['records', 'permissions', 'groups-matrix', 'limits']) {
    await at(page, 1920, lively(pageNamed(name)));
    const { width } = await page.locator('main').boundingBox();
    assert.ok(width > 1500, `${name}: ${width}`);
  }
});

story('names in the matrix are shown whole at every width', async (page) => {
  for (const width of [320, 768, 1280, 1920]) {
    await at(page, width, lively(pageNamed('groups-matrix')));
    const names = page.locator('.matrix-even tbody th');
    await names.filter({ hasText: 'weather-of-the-north-atlantic-shipping-areas' }).waitFor();
    const found = await names.evaluateAll((all) => {
      const tall = all.map((head) => head.closest('tr').offsetHeight);
      const cut = all.filter((head) => head.scrollWidth > head.clientWidth || head.scrollHeight > head.closest('tr').offsetHeight);
      return { cut: cut.map((head) => head.textContent), heights: [...new Set(tall)] };
    });
    assert.deepEqual(found.cut, [], `${width} pixels`);
    assert.equal(found.heights.length, 1, `${width} pixels: rows of one height`);
    if (width >= 1280) assert.deepEqual(found.heights, [36], `${width} pixels: on one line`);
    assert.equal(await overflow(page), 0, `${width} pixels`);
  }
  // A window that is made narrow gives names what a narrow one has.
  const name = page.locator('.matrix-even tbody th').first();
  await page.setViewportSize({ width: 320, height: 900 });
  await page.waitForFunction((head) => document.querySelector(head).offsetWidth < 250, '.matrix-even tbody th');
  assert.equal((await name.evaluate((head) => head.closest('tr').offsetHeight)) > 36, true, 'on several lines');
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.waitForFunction((row) => document.querySelector(row).offsetHeight === 36, '.matrix-even tbody tr:has(th)');
});
