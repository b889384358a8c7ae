// Members of a project at their work: one decides what waits, one reads the record, one writes an agent.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { QuarantinePage } from '../pages/imports.mjs';
import { journey } from '../pages/journey.mjs';
import { settled } from '../support/browser.mjs';
import { member } from '../support/people.mjs';
import { startLively } from '../support/seed.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

/** The lively project with a guide, and with a user who has asked for a group. */
async function start() {
  const lively = await startLively();
  const { server } = lively;
  try {
    const guide = { summary: 'How words are looked up', group: 'knowledge', text: '# Looking up\n\nCall **look-up** first.' };
    await server.put('/projects/demo/guides/words', guide, { 'if-none-match': '*' });
    const asker = await member(server, 'asker', 'agent');
    const token = await tokenOf(server, asker);
    const asked = { asked: { kind: 'groups', groups: ['writing'] }, reason: 'The daily summary is published.' };
    await server.ask('POST', '/projects/demo/access-requests', { body: asked, token });
    return { ...lively, asker };
  } catch (error) {
    await lively.stop();
    throw error;
  }
}

async function tokenOf(server, { username, password }) {
  return (await server.ask('POST', '/auth/login', { body: { username, password }, token: null })).body.access_token;
}

const stage = setStage(start);

/** A page by its name in the menu. */
const goTo = async (page, name) => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await settled(page);
};

journey(stage, 'an approver decides a change of an import and a request for access', { most: 8 }, async (page, way) => {
  const { server, asker } = stage;
  // No one grants what they do not hold, owners included.
  await way.signIn(await member(server, 'approver', 'owner', ['knowledge', 'writing']));
  const bell = page.getByRole('button', { name: /^Notifications: \d+ unread$/ });
  await bell.click();
  await page.getByRole('link', { name: /^A change of the tool listPets/ }).click();
  const inbox = new QuarantinePage(page);
  const change = page.getByRole('region', { name: 'The change' });
  await change.getByRole('heading', { name: 'listPets' }).waitFor();
  // The whole difference is read without a further click.
  await page.getByRole('textbox', { name: 'What the description changed: after' }).getByText('How many at most').waitFor();
  await page.getByLabel('Note').fill('The limit is welcome.');
  await inbox.approve.click();
  await inbox.count.getByText('1').waitFor();
  way.part('to the approved change');
  const { definition } = await server.get('/projects/demo/tools/listPets');
  assert.equal(definition.parameters.properties.limit.type, 'integer');

  await bell.click();
  await page.getByRole('link', { name: 'asker asks for the group writing.' }).click();
  const row = page.getByRole('row').filter({ hasText: 'asker' });
  await row.getByText('The daily summary is published.').waitFor();
  await row.getByRole('button', { name: 'Grant: Groups: writing for asker' }).click();
  const dialog = page.getByRole('dialog', { name: 'Grant the request?' });
  await dialog.getByLabel('Note').fill('For the summary only.');
  await dialog.getByRole('button', { name: 'Grant', exact: true }).click();
  await row.getByText('by approver: For the summary only.').waitFor();
  way.part('to the decided request');
  const { groups } = await server.get(`/projects/demo/permissions/${encodeURIComponent(asker.principal)}`);
  assert.deepEqual(groups.map(({ group }) => group).sort(), ['knowledge', 'writing']);
});

journey(stage, 'an auditor finds refused calls, reads why, checks the chain and takes a copy', { most: 13 }, async (page, way) => {
  await way.signIn(await member(stage.server, 'checker', 'auditor'));
  await goTo(page, 'Records');
  await page.getByRole('button', { name: /range of time$/ }).click();
  await page.getByRole('button', { name: 'Last hour' }).click();
  await page.getByLabel('Outcome').selectOption({ label: 'Denied' });
  await page.getByLabel('Who', { exact: true }).fill('reading agent');
  await page.getByLabel('Who', { exact: true }).press('Enter');
  await page.waitForURL('**principal_name=reading*');
  const rows = page.getByRole('table', { name: 'records' }).locator('tbody').getByRole('row');
  await becomes(() => rows.filter({ hasNotText: 'reading agent' }).count(), 0, 'only the refusals of this caller');
  way.part('to the refused calls');

  await rows.first().getByRole('button').click();
  const record = page.getByRole('dialog', { name: 'Record' });
  await record.getByText('insufficient_tool_groups').waitFor();
  await record.getByText('Missing', { exact: true }).waitFor();
  await record.getByRole('link', { name: 'Why?' }).click();
  await page.getByRole('heading', { name: 'Simulator', level: 1 }).waitFor();
  await page.getByText(/was not granted to/).first().waitFor();
  await way.back();
  await record.getByText('insufficient_tool_groups').waitFor();
  await record.getByRole('button', { name: 'Close' }).click();
  await record.waitFor({ state: 'hidden' });
  way.part('to the explanation and back');

  // The server checks the chain by itself every few seconds.
  await page.getByText('chain intact').waitFor();
  await page.getByText(/\d+ entries, checked/).waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export CSV' }).click();
  const text = await readFile(await (await downloading).path(), 'utf8');
  way.part('to the copy');
  const [head, ...lines] = text.trim().split(/\r?\n/);
  assert.ok(head.includes('outcome'), head);
  assert.ok(lines.length >= 7 && lines.every((line) => line.includes('denied') && line.includes('reading agent')), text);
});

const REFUSED = { most: 16, refusals: ['/projects/demo/calls'] };

journey(stage, 'the author of an agent learns what is open, is refused, asks, and connects', REFUSED, async (page, way) => {
  const { server } = stage;
  const author = await member(server, 'author', 'agent');
  await way.signIn(author);
  await page.getByRole('link', { name: 'See what you can call in a state, and why not the rest' }).click();
  await page.getByText('3 of 5 tools can be called').waitFor();
  way.part('to the open tools');

  await goTo(page, 'Guides');
  await page.getByRole('row', { name: /words/ }).getByRole('button', { name: 'Read' }).click();
  const guide = page.getByRole('dialog', { name: 'words' });
  await guide.getByRole('heading', { name: 'Looking up' }).waitFor();
  await guide.getByRole('button', { name: 'Close' }).click();
  way.part('to a guide that is read');

  await goTo(page, 'Tools');
  await page.getByRole('link', { name: 'look-up', exact: true }).click();
  await page.getByRole('textbox', { name: /^word/ }).fill('gate');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.getByText('succeeded', { exact: true }).waitFor();
  way.part('to a call');

  await goTo(page, 'Tools');
  await page.getByRole('link', { name: 'summarise', exact: true }).click();
  await page.getByLabel('Groups').fill('knowledge, writing');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  await page.getByText('Insufficient permissions for requested tool groups: writing.').waitFor();
  await page.getByRole('link', { name: 'Ask for it' }).click();
  await page.getByText('Groups: writing').waitFor();
  await page.getByLabel('Reason').fill('The summary is what the agent is for.');
  await page.getByRole('button', { name: 'Ask for it' }).click();
  await page.getByText('The request was sent.').waitFor();
  way.part('to a request');
  const requests = await server.get('/projects/demo/access-requests?status=open');
  assert.ok(requests.items.some((request) => request.principal_name === 'author'), JSON.stringify(requests.items));

  await goTo(page, 'Connect');
  await page.getByRole('button', { name: 'MCP clients' }).click();
  // The groups that the author holds are asked for.
  await page.getByRole('region', { name: 'Claude Code: Run in a terminal' }).getByText('group=knowledge').waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy: Claude Code: Run in a terminal' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  way.part('to the configuration of a client');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^claude mcp add /);
  assert.ok(copied.includes(`${server.origin}/projects/demo/mcp?group=knowledge`), copied);
});
