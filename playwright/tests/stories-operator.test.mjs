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

/** Two projects on a server; the host behind a tool of one of them is down, and its caller tries whatever it can. */
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
    for (let attempt = 0; attempt < 6; attempt += 1) await call('*');
    await until('the alert', async () => (await server.get('/projects/workshop/alerts')).items.length > 0);
    await call('shop');
  } catch (error) {
    await stop();
    throw error;
  }
  return { server, upstream, stop };
}

const stage = setStage(start);

journey(stage, 'an operator follows an alert to a host that is down, and disables its tool', { most: 15 }, async (page, way) => {
  const { server, upstream } = stage;
  await way.signIn(ADMIN);
  // Where all projects are listed there is no bell: one opens the project to see that something waits.
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
  await page.getByRole('link', { name: /^Workshop/ }).click();
  await page.getByRole('button', { name: 'Notifications: 1 unread' }).click();
  await page.getByRole('link', { name: /^night agent asked \d times/ }).click();
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
  way.part('to the alert');

  const alert = page.getByRole('row').filter({ hasText: 'night agent' });
  await alert.getByRole('link', { name: 'Calls' }).click();
  const failed = page.getByRole('row').filter({ hasText: 'failed' }).getByRole('button');
  await failed.click();
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByText('upstream_unavailable').waitFor();
  await record.getByRole('button', { name: 'Close' }).click();
  await record.waitFor({ state: 'hidden' });
  way.part('to the record of the failed call');

  await page.getByRole('link', { name: 'Health', exact: true }).click();
  const check = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Host of tools' }) });
  await check.getByText(`${new URL(upstream.origin).hostname} did not answer the last call of "workshop"`).waitFor();
  await check.getByText('fails', { exact: true }).waitFor();
  way.part('to the host that fails');

  // The page of the health leads to no tool; the record does.
  await way.back();
  await failed.click();
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
