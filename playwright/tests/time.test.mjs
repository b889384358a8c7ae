import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes, until } from '../support/wait.mjs';

const stage = setStage();

const picker = (page) => page.getByRole('button', { name: /range of time$/ });
const query = (page) => new URL(page.url()).searchParams;

stage.story('a range is chosen, is in the address, and comes back', async (page) => {
  await page.goto('/ui/projects/demo/overview');
  await settled(page);
  const asked = [];
  page.on('request', (request) => {
    if (request.url().includes('/usage/series')) asked.push(new URL(request.url()).searchParams);
  });
  await picker(page).click();
  await page.getByRole('button', { name: 'Last 7 days' }).click();
  await page.waitForURL('**?*from=now-7d*');
  await page.getByRole('button', { name: 'Last 7 days: range of time' }).waitFor();
  await until('a week', () => asked.some((one) => Date.now() - Date.parse(one.get('since')) > 6.9 * 86_400_000));
  await page.reload();
  await page.getByRole('button', { name: 'Last 7 days: range of time' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Last 24 hours: range of time' }).waitFor();
});

stage.story('an absolute range is in local time or in UTC', { timezoneId: 'America/New_York' }, async (page) => {
  await page.goto('/ui/projects/demo/usage');
  await settled(page);
  await picker(page).click();
  await page.getByLabel('From (local time)').fill('2026-03-01T08:00');
  await page.getByLabel('To (local time)').fill('2026-03-01T07:00');
  await page.getByText('The end must be later than the beginning.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Apply' }).isDisabled(), true);
  await page.getByLabel('To (local time)').fill('2026-03-01T10:30');
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL('**?*from=*');
  assert.equal(query(page).get('from'), '2026-03-01T13:00:00.000Z');
  assert.equal(query(page).get('to'), '2026-03-01T15:30:00.000Z');
  await page.getByRole('button', { name: '2026-03-01 08:00 to 2026-03-01 10:30: range of time' }).click();
  await page.getByLabel('Show times in UTC').check();
  await becomes(() => page.getByLabel('From (UTC)').inputValue(), '2026-03-01T13:00');
  await page.waitForURL('**zone=utc*');
  await page.goto('/ui/projects/demo/overview?from=2026-03-01T13:00:00.000Z&to=2026-03-01T15:30:00.000Z');
  await page.getByRole('button', { name: '2026-03-01 13:00 to 2026-03-01 15:30 UTC: range of time' }).waitFor();
});

stage.story('dragging on a chart narrows the range, and a point leads to its records', async (page) => {
  await page.goto('/ui/projects/demo/usage?from=now-1h');
  await settled(page);
  const drawing = page.getByRole('group', { name: 'Requests over time' }).locator('.u-over');
  await drawing.waitFor();
  await drawing.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await drawing.boundingBox();
  await page.mouse.move(x + width * 0.5, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 5 });
  await page.mouse.move(x + width - 1, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await until('a narrower range', () => query(page).get('to') !== null);
  const length = Date.parse(query(page).get('to')) - Date.parse(query(page).get('from'));
  assert.ok(length > 20 * 60_000 && length < 40 * 60_000, `${length} ms`);
  await page.goBack();
  await settled(page);
  await drawing.waitFor();
  await drawing.scrollIntoViewIfNeeded();
  const again = await drawing.boundingBox();
  // The requests of the seed are in the last slots; a bar begins at the bottom.
  for (let back = 0.5; back < 8 && !page.url().includes('/records'); back += 1) {
    await page.mouse.click(again.x + again.width - (back * again.width) / 61, again.y + again.height - 3);
  }
  await page.waitForURL('**/records?*');
  assert.ok(['succeeded', 'failed', 'denied'].includes(query(page).get('outcome')));
  assert.equal(Date.parse(query(page).get('to')) - Date.parse(query(page).get('from')), 60_000);
  await page.locator('[data-row]').first().waitFor();
});

stage.story('series by tool, group, principal and entrance have a table each', async (page) => {
  for (const [tab, name, kept] of [
    ['Tools', 'look-up', 'tool=look-up'],
    ['Groups', 'knowledge', 'requested_group=knowledge'],
    ['Principals', 'reading agent', 'principal_id='],
    ['Entrances', 'REST', 'entrance=rest'],
  ]) {
    await page.goto('/ui/projects/demo/usage');
    await page.getByRole('button', { name: tab, exact: true }).click();
    const all = page.getByRole('table', { name: 'Usage in this range' });
    const row = all.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    await row.waitFor();
    const calls = row.getByRole('link').first();
    assert.ok((await calls.getAttribute('href')).includes(kept), tab);
    await page.getByLabel('What is counted').selectOption('denials');
    await page.waitForURL('**measure=denials*');
    await page.getByRole('heading', { name: 'Refusals' }).waitFor();
    const table = page.getByRole('group', { name: 'Counts over time' });
    await table.getByText('As a table').click();
    await table.getByRole('region').or(table.getByText('Nothing in this range.')).waitFor();
    await assertAccessible(page, tab);
  }
});

stage.story('lists of alerts and sessions follow the range', async (page) => {
  for (const place of ['alerts', 'sessions']) {
    await page.goto(`/ui/projects/demo/${place}`);
    const rows = page.getByRole('table').locator('tbody').getByRole('row');
    await rows.first().waitFor();
    await page.goto(`/ui/projects/demo/${place}?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z`);
    await settled(page);
    await becomes(() => rows.count(), 0, place);
    await picker(page).click();
    await page.getByRole('button', { name: 'Last hour' }).click();
    await rows.first().waitFor();
  }
});
