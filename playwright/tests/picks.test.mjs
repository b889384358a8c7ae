import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes, until } from '../support/wait.mjs';

const stage = setStage();

/** Uses a field, and waits until it offers a value: what it offers comes from several lists. */
async function offers(field, value) {
  await field.focus();
  const options = () => field.evaluate(({ list }) => [...list.options].map(({ value }) => value));
  await until(`the choice ${value}`, async () => (await options()).includes(value));
}

stage.story('records are filtered by a caller whose name is chosen', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'picked agent', ['knowledge']);
  await server.call('demo', agent.secret, { tool: 'look-up', group: ['knowledge'], arguments: { word: 'pick' } });
  await page.goto('/ui/projects/demo/records');
  await settled(page);
  await page.getByText('More filters').click();
  const field = page.getByLabel("Principal's id");
  await offers(field, 'picked agent (service key)');
  await field.fill('picked agent (service key)');
  await field.press('Enter');
  await page.waitForURL((address) => address.searchParams.get('principal_id') === agent.id);
  await page.getByRole('row').filter({ hasText: 'picked agent' }).first().waitFor();
  await page.reload();
  await becomes(() => field.inputValue(), 'picked agent (service key)', 'the name, not the id');
  await field.fill('unknown-principal-id');
  await field.press('Enter');
  await page.waitForURL((address) => address.searchParams.get('principal_id') === 'unknown-principal-id');
  await offers(page.getByLabel('Address', { exact: true }), '127.0.0.1');
});

stage.story('a limit is for a caller whose name is chosen', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'limited agent', ['knowledge']);
  await page.goto('/ui/projects/demo/limits');
  await settled(page);
  const rows = page.getByRole('button', { name: /^Remove limit/ });
  const before = await rows.count();
  await page.getByRole('button', { name: 'Add a limit' }).click();
  const number = before + 1;
  await page.getByLabel(`Name of limit ${number}`).fill('picked');
  await page.getByLabel(`What of limit ${number}`).selectOption('tool');
  const which = page.getByLabel(`Which of limit ${number}`);
  await offers(which, 'look-up');
  await page.getByLabel(`What of limit ${number}`).selectOption('principal');
  await offers(which, 'limited agent (service key)');
  await which.fill('limited agent (service key)');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The limits are in force.').waitFor();
  const { limits } = await server.get('/projects/demo/limits');
  const subject = { kind: 'principal', principal: `service_key:${agent.id}` };
  assert.deepEqual(limits.find(({ name }) => name === 'picked').subject, subject);
  await page.reload();
  await becomes(() => which.inputValue(), 'limited agent (service key)', 'the name, not the id');
  await assertAccessible(page);
});

stage.story('hosts and announcers are chosen, and others are typed', async (page) => {
  const { server, mcp } = stage;
  const agent = await server.createKey('demo', 'announcing agent', []);
  await page.goto('/ui/projects/demo/settings');
  await settled(page);
  const host = page.getByLabel('Add a host');
  for (const origin of ['https://weather.example', mcp.origin]) await offers(host, origin);
  const hosts = page.getByLabel('Hosts', { exact: true });
  const before = (await hosts.inputValue()).split('\n').filter(Boolean);
  for (const origin of ['https://weather.example', 'https://new.example']) {
    await host.fill(origin);
    await host.press('Enter');
  }
  const expected = [...new Set([...before, 'https://weather.example', 'https://new.example'])];
  await becomes(() => hosts.inputValue(), expected.join('\n'));
  const announcer = page.getByLabel('Add an announcer');
  await offers(announcer, 'announcing agent (service key)');
  await announcer.fill('announcing agent (service key)');
  await announcer.locator('xpath=..').getByRole('button', { name: 'Add' }).click();
  await becomes(() => page.getByLabel('Trusted announcers').inputValue(), `service_key:${agent.id}`);
  await page.getByRole('listitem').getByText('announcing agent (service key)').waitFor();
  await assertAccessible(page);
});

stage.story('a provider may be for a host that tools name', async (page) => {
  await page.goto('/ui/projects/demo/account-providers');
  await settled(page);
  await page.getByRole('button', { name: 'New provider' }).click();
  const form = page.getByRole('dialog');
  await offers(form.getByLabel('Add a host'), 'weather.example');
  await form.getByLabel('Add a host').fill('weather.example');
  await form.getByLabel('Add a host').press('Enter');
  await becomes(() => form.getByLabel('Hosts').inputValue(), 'weather.example');
});
