// Names and descriptions come from the authors of tools, and tools come from everywhere: all of it is text, on every page.
import assert from 'node:assert/strict';

import { overflow, settled } from '../support/browser.mjs';
import { SERVER } from '../support/mcp-upstream.mjs';
import { PAGES, SERVICE } from '../support/pages.mjs';
import { importPetstore } from '../support/seed.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

const MARKUP = '<img src=x onerror="window.caught=1"><script>window.caught=1</script>{{7*7}}&amp;';
const TURNED = 'safe\u202Egnp.exe\u202C \u2067right\u2069 to left';
const FAMILY = '👩‍👩‍👧‍👦🏳️‍🌈';
const LONG = `${'w'.repeat(300)}`;
const WORDS = `${MARKUP} ${TURNED} ${FAMILY} ${LONG}`;
const TOOL = 'T'.repeat(128);
// Names of groups have no invisible characters, which join the people of a family.
const GROUP = `<b>group</b>👪`;
const STATE = `<i>state</i>${'s'.repeat(60)}`;

/** Where the words must be readable: page by page, a part of what was written. */
const SHOWN_ON = {
  tools: [MARKUP, TOOL],
  tool: [MARKUP, TOOL],
  'tool-definition': [],
  groups: [GROUP],
  states: ['<i>state</i>'],
  permissions: [MARKUP],
  keys: [MARKUP],
  simulator: [TOOL],
  sessions: [MARKUP],
  records: [TOOL],
  imports: [MARKUP],
  import: [MARKUP],
  'mcp-servers': [MARKUP],
  'mcp-server': [MARKUP],
};

async function fill(server, upstream) {
  await server.createProject('hostile', MARKUP);
  const definition = {
    name: TOOL,
    type: 'openapi',
    description: WORDS,
    group: [GROUP],
    state: STATE,
    parameters: { type: 'object', properties: { [MARKUP]: { type: 'string', description: WORDS, enum: [MARKUP, LONG] } } },
    options: { http: { base_url: upstream.origin, path: '/words' } },
  };
  await server.post('/projects/hostile/tools', definition);
  await server.put(`/projects/hostile/groups/${encodeURIComponent(GROUP)}`, { description: WORDS });
  await importPetstore(server, 'hostile', upstream.origin, { title: WORDS.slice(0, 200), tag: MARKUP, list: WORDS });
  const arg = `${LONG}${TURNED}`;
  await server.put(`/projects/hostile/mcp-servers/${SERVER}`, { command: LONG, args: [MARKUP, arg], env: { X: WORDS }, description: WORDS }, {});
  await server.uploadTools('hostile', `tool-service: {${SERVICE}: {request-queue: tg.hostile.joke, response-queue: tg.hostile.jokes}}`);
  const agent = await server.createKey('hostile', MARKUP, [GROUP]);
  const session = await server.ask('POST', '/projects/hostile/sessions', {
    body: { group: [GROUP], label: MARKUP },
    token: agent.secret,
  });
  await server.call('hostile', agent.secret, { tool: TOOL, session_id: session.body.id, arguments: { [MARKUP]: MARKUP } });
  await server.call('hostile', agent.secret, { tool: TOOL, group: [MARKUP], arguments: {} });
}

stage.story('whatever is written is shown as text, on every page and at every width', { refusals: ['/projects/hostile/tools/look-up/uses'] }, async (page) => {
  await fill(stage.server, stage.upstream);
  const faults = [];
  for (const it of PAGES) {
    await page.goto(it.path({ project: 'hostile', tool: TOOL }));
    await settled(page);
    const text = await page.locator('body').innerText();
    for (const words of SHOWN_ON[it.name] ?? []) {
      if (!text.includes(words)) faults.push(`${it.name} does not show ${words.slice(0, 40)}`);
    }
    const { caught, made } = await page.evaluate(() => ({
      caught: window.caught,
      made: document.querySelectorAll('img, #main script, #main b, #main i').length,
    }));
    if (caught) faults.push(`${it.name} ran what was written`);
    if (made > 0) faults.push(`${it.name} made elements of what was written`);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const wider = await overflow(page);
      if (wider > 0) faults.push(`${it.name} is ${wider} pixels wider than a window of ${width}`);
    }
  }
  assert.deepEqual(faults, []);
});
