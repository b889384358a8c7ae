// An operator who is called at night: from what the bell says to what is done about it.
import assert from 'node:assert/strict';

import { journey } from '../pages/journey.mjs';
import { settled } from '../support/browser.mjs';
import { ADMIN, Server } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';
import { Upstream } from '../support/upstream.mjs';
import { until } from '../support/wait.mjs';

const shop = (origin) => `
name: order
type: openapi
description: Orders a part from the shop.
group: [shop]
parameters: { type: object, properties: {} }
options: { http: { base_url: "${origin}", path: "/orders" } }
`;

/** Two projects on a server; the host behind a tool of one of them is down. */
async function start() {
  const upstream = await Upstream.start();
  let server;
  let isUp = true;
  const fail = async () => {
    isUp = false;
    await upstream.stop();
  };
  const stop = async () => {
    await server?.stop();
    if (isUp) await upstream.stop();
  };
  try {
    server = await Server.start({ TOOLGATE_EGRESS_ALLOW: upstream.origin });
    await server.signIn();
    await server.createProject('workshop', 'Workshop');
    await server.createProject('office', 'Office');
    await server.uploadTools('workshop', shop(upstream.origin));
    const { secret } = await server.createKey('workshop', 'night agent', ['shop']);
    const call = (group) => server.call('workshop', secret, { tool: 'order', group: [group], arguments: {} });
    await call('shop');
    await fail();
    for (let attempt = 0; attempt < 5; attempt += 1) await call('shop');
    await until('the alert', async () => (await server.get('/projects/workshop/alerts')).items.length > 0);
  } catch (error) {
    await stop();
    throw error;
  }
  return { server, upstream, stop };
}

const stage = setStage(start);

journey(stage, 'an operator follows the bell to a host that is down, and disables its tool', { most: 12 }, async (page, way) => {
  const { server, upstream } = stage;
  const { hostname } = new URL(upstream.origin);
  await way.signIn(ADMIN);
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Notifications: 1 unread' }).click();
  const notification = page.getByRole('link', { name: `The upstream ${hostname} failed 5 times in a row.` });
  await notification.getByText('workshop').waitFor();
  await notification.click();
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
  way.part('to the alert');

  const alert = page.getByRole('row').filter({ hasText: 'Upstream fails' });
  await alert.getByRole('link', { name: 'Calls' }).click();
  await page.getByRole('row').filter({ hasText: 'failed' }).getByRole('button').first().click();
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByText('upstream_unavailable').waitFor();
  await record.locator('.fact').filter({ hasText: 'Failure' }).getByText(hostname).waitFor();
  way.part('to the record of a failed call');

  await record.getByRole('link', { name: 'order', exact: true }).click();
  await page.getByRole('heading', { name: 'order', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Disable', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Disable order?' });
  await question.getByText('1 tool would change.').waitFor();
  await question.getByLabel('Note').fill('The shop is down.');
  await question.getByRole('button', { name: 'Disable the tool' }).click();
  const undo = page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' });
  await undo.waitFor();
  await until('the disabled tool', async () => !(await server.get('/projects/workshop/tools/order')).enabled);
  way.part('to the disabled tool');

  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await settled(page);
  await alert.getByRole('button', { name: 'Acknowledge' }).click();
  await alert.getByText('Acknowledged by admin').waitFor();
  way.part('to the acknowledged alert');
  const { items } = await server.get('/projects/workshop/alerts?acknowledged=false');
  assert.deepEqual(items, []);
});
