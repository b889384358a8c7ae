// The bell, and what alerts lead to.
import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes, until } from '../support/wait.mjs';

const stage = setStage();

stage.story('the bell lists what waits, leads there, and keeps what was read', async (page) => {
  const { server } = stage;
  await server.post('/projects/demo/keys', { name: 'nightly agent', role: 'agent', groups: [], expires_in_s: 3 * 86400 });
  await page.goto('/ui/projects/demo/tools');
  const bell = page.getByRole('button', { name: /^Notifications/ });
  const { unread, items } = await server.get('/projects/demo/notifications');
  assert.ok(items.some(({ kind }) => kind === 'quarantine') && items.some(({ kind }) => kind === 'alert'), JSON.stringify(items));
  await becomes(() => bell.getAttribute('aria-label'), `Notifications: ${unread} unread`, 'the count');
  await bell.click();
  await assertAccessible(page, 'the notifications');
  await page.getByRole('link', { name: /^The key nightly agent expires/ }).click();
  await page.waitForURL(/\/projects\/demo\/keys/);
  await page.locator('tr[aria-current]').filter({ hasText: 'nightly agent' }).waitFor();
  await becomes(() => bell.getAttribute('aria-label'), `Notifications: ${unread - 1} unread`, 'one was read');
  await bell.click();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await becomes(() => bell.getAttribute('aria-label'), 'Notifications', 'all were read');
  await page.reload();
  await settled(page);
  assert.equal(await bell.getAttribute('aria-label'), 'Notifications');
});

stage.story('outside of projects the bell lists what is unread in all of them, and marks it as read there', async (page) => {
  const { server } = stage;
  for (const project of ['demo', 'bell']) {
    if (project === 'bell') await server.createProject(project, 'Bell');
    await server.post(`/projects/${project}/keys`, { name: `key of ${project}`, role: 'agent', groups: [], expires_in_s: 86400 });
  }
  await page.goto('/ui/projects');
  const bell = page.getByRole('button', { name: /^Notifications/ });
  const { unread } = await server.get('/notifications');
  await becomes(() => bell.getAttribute('aria-label'), `Notifications: ${unread} unread`, 'the count');
  await bell.click();
  await assertAccessible(page, 'the notifications of all projects');
  await page.getByRole('link', { name: /^The key key of demo expires.* demo/ }).waitFor();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await page.getByText('You have read all notifications of your projects.').waitFor();
  const read = (await server.get('/projects/bell/notifications')).items.map((item) => item.read);
  assert.deepEqual(read, [true]);
});

stage.story('an alert of the server is in the bell outside of projects, and on a page of its own', async (page) => {
  const { server } = stage;
  for (let attempt = 0; attempt < 20; attempt += 1) await server.ask('GET', '/auth/me', { token: 'tgk_00000000_wrong' });
  await until('the alert', async () => (await server.get('/alerts')).items.length > 0);
  await page.goto('/ui/projects');
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('link', { name: /credentials/ }).click();
  await page.waitForURL('**/ui/server-alerts?show=*');
  const row = page.locator('tr[aria-current]').filter({ hasText: 'Many refused credentials' });
  await row.getByRole('button', { name: 'Acknowledge' }).click();
  await row.getByText('Acknowledged by admin').waitFor();
  await assertAccessible(page, 'the alerts of the server');
});

stage.story('an alert leads to its record and its caller, and several are acknowledged at once', async (page) => {
  await page.goto('/ui/projects/demo/alerts');
  const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
  const asked = rows.filter({ hasText: 'Asked for groups' });
  await asked.getByRole('link', { name: 'Record' }).click();
  await page.waitForURL(/records\?request_id=/);
  await page.locator('[data-row]').first().waitFor();
  await page.goBack();
  await asked.getByRole('link', { name: 'Caller' }).click();
  await page.getByRole('dialog', { name: 'reading agent' }).waitFor();
  await page.goto('/ui/projects/demo/alerts');
  await page.getByRole('searchbox', { name: 'Search alerts' }).fill('no such words');
  await page.getByText('No alerts').waitFor();
  await page.getByRole('searchbox', { name: 'Search alerts' }).fill('READING');
  await asked.waitFor();
  const open = await stage.server.get('/projects/demo/alerts?acknowledged=false&q=reading');
  await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
  await page.locator('.selection-bar').getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Acknowledge \d+ alert/ }).click();
  await page.getByText(`Acknowledge: ${open.items.length} alert`).waitFor();
  const left = await stage.server.get('/projects/demo/alerts?acknowledged=false&q=reading');
  assert.equal(left.items.length, 0);
});
