// With a message bus: parts of an answer while a tool is tried, dead letters, and what goes wrong at a service.
import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { assertGoodInEveryLook } from '../support/looks.mjs';
import { Nats } from '../support/nats.mjs';
import { Server } from '../support/server.mjs';
import { setStage } from '../support/stage.mjs';
import { Upstream } from '../support/upstream.mjs';
import { becomes, until } from '../support/wait.mjs';

const COMMAND = 'cg.v1r4.demo.main.cmd.tool.toolgate.run';
const ANSWERS = 'tg.demo.joke-answers';

const tools = (upstream) => `
name: look-up
type: openapi
description: Looks a word up.
parameters: { type: object, properties: { word: { type: string } }, required: [word] }
options: { http: { base_url: "${upstream}", path: "/words/{word}" } }
---
name: tell-joke
type: tool-service
description: Tells a joke.
service: jokes
arguments: [{ name: topic, type: string, description: The topic. }]
---
name: tell-riddle
type: tool-service
description: Tells a riddle, too late.
service: riddles
arguments: []
options: { timeout_ms: 1000 }
`;
const SERVICES = `tool-service:
  jokes: { request-queue: tg.demo.joke, response-queue: ${ANSWERS} }
  riddles: { request-queue: "persistent://tg/demo/riddles", response-queue: tg.demo.riddle-answers }
`;

const stage = setStage(async () => {
  const started = [];
  const stop = async () => {
    for (const one of started.reverse()) await one.stop();
  };
  const keep = async (starting) => {
    started.push(await starting);
    return started.at(-1);
  };
  try {
    const nats = await keep(Nats.start());
    const upstream = await keep(Upstream.start());
    const server = await keep(Server.start({ TOOLGATE_NATS_URL: nats.url, TOOLGATE_EGRESS_ALLOW: upstream.origin }));
    await server.signIn();
    await server.createProject('demo', 'Demonstration');
    await server.uploadTools('demo', SERVICES);
    await server.uploadTools('demo', tools(upstream.origin));
    await server.put('/projects/demo/settings', { bus_entrance: { targets: ['toolgate'] } });
    return { server, upstream, nats, stop };
  } catch (error) {
    await stop();
    throw error;
  }
});

/** An answer of the joke service, or a part of it. */
const answer = (request, response, isLast) =>
  stage.nats.publish(ANSWERS, JSON.stringify({ response, end_of_stream: isLast }), { id: request.headers.get('id') });

stage.story('the parts of an answer are shown while the tool runs', async (page) => {
  const requests = await stage.nats.listen('tg.demo.joke');
  await page.goto('/ui/projects/demo/tools/tell-joke');
  await settled(page);
  await page.getByLabel('topic').fill('doors');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  const request = await requests.next();
  assert.match(request.string(), /doors/);
  const parts = page.getByRole('log', { name: 'Parts of the answer' });
  // The next part is sent when the one before is shown.
  await answer(request, 'Knock ', false);
  await parts.getByText('Knock', { exact: true }).waitFor();
  await answer(request, 'knock.', false);
  await parts.getByText('Knock knock.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Calling…' }).waitFor();
  await answer(request, ' Who is there?', true);
  await page.getByRole('status').getByText('succeeded').waitFor();
  await page.getByText('Knock knock. Who is there?').waitFor();
  await parts.waitFor({ state: 'detached' });

  // The same call as a program, by MCP too.
  await page.getByText('The same call as a program').click();
  await page.getByText(`${stage.server.origin}/projects/demo/mcp`, { exact: true }).waitFor();
  await page.getByRole('link', { name: 'How clients connect' }).click();
  await page.getByRole('heading', { name: 'Connect', level: 1 }).waitFor();
});

stage.story('a call that fails on its way says so in place of its parts', async (page) => {
  const requests = await stage.nats.listen('tg.demo.joke');
  await page.goto('/ui/projects/demo/tools/tell-joke');
  await settled(page);
  await page.getByLabel('topic').fill('doors');
  await page.getByRole('button', { name: 'Call the tool' }).click();
  const request = await requests.next();
  await answer(request, 'Knock ', false);
  await page.getByRole('log', { name: 'Parts of the answer' }).getByText('Knock').waitFor();
  const failed = JSON.stringify({ error: { type: 'tool-service-error', message: 'no joke about doors' }, end_of_stream: true });
  await stage.nats.publish(ANSWERS, failed, { id: request.headers.get('id') });
  await page.getByText('no joke about doors').waitFor();
  await page.getByRole('log').waitFor({ state: 'detached' });
});

stage.story('what goes wrong at a service is on its page', async (page) => {
  const call = await stage.server.call('demo', stage.server.token, { tool: 'tell-riddle', arguments: {} });
  assert.equal(call.body.error.code, 'timeout');
  await page.goto('/ui/projects/demo/services/riddles');
  await settled(page);
  await page.getByText('not read yet by any process, 0 in progress').waitFor();
  const failures = page.getByRole('region', { name: 'Latest failures' });
  await failures.getByRole('row').filter({ hasText: 'timeout' }).getByRole('link', { name: 'tell-riddle' }).click();
  await page.getByRole('dialog', { name: 'Record' }).getByText('timeout').first().waitFor();
});

/** A command without a token: nothing proves who sent it. */
async function unproven(id) {
  const payload = { tool_call_card_id: `card-${id}`, tool_name: 'look-up', after_execution: 'suspend' };
  await stage.nats.publish(COMMAND, JSON.stringify(payload), {
    'CG-Agent-Id': 'researcher',
    'CG-Turn-Id': 'turn-1',
    'CG-Tool-Call-Id': id,
  });
  await until('the dead letter', async () =>
    (await stage.server.get('/projects/demo/dead-letters')).items.some((letter) => letter.tool_call_id === id),
  );
}

stage.story('a dead letter is looked at, sent again and dropped', { refusals: ['*'] }, async (page) => {
  await until('the entrance', async () => (await stage.nats.consumers('cg_cmd_v1r4')) > 0);
  await page.goto('/ui/projects/demo/services');
  await settled(page);
  await page.getByRole('link', { name: 'Dead letters' }).click();
  await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
  await page.getByText('No dead letters').waitFor();

  await unproven('first');
  await unproven('second');
  await page.reload();
  await settled(page);
  await assertGoodInEveryLook(page, 'dead letters');
  const opens = async (id) => {
    await page.getByRole('button', { name: id, exact: true }).click();
    return page.getByRole('dialog', { name: 'Dead letter' });
  };
  const letter = await opens('first');
  await letter.getByText(/no header Toolgate-Token/).waitFor();
  await letter.getByText(COMMAND).waitFor();
  await letter.getByText('researcher').waitFor();
  await letter.getByText('The payload is shown to auditors only.').waitFor();
  // Its card is not there: it cannot be sent.
  await letter.getByRole('button', { name: 'Send again' }).click();
  await letter.getByText(/names no card that can be read/).waitFor();
  const card = {
    card_id: 'card-first',
    project_id: 'demo',
    type: 'tool.call',
    author_id: 'agent.researcher',
    tool_call_id: 'first',
    content: { tool_name: 'look-up', arguments: { word: 'gate' }, status: 'called' },
  };
  await stage.nats.publish('$KV.cards_demo.card-first', JSON.stringify(card));
  await letter.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The message was sent again, as a call of yours.').waitFor();
  await letter.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'first', exact: true }).waitFor({ state: 'detached' });
  await until('the call', () => stage.upstream.requests.some(({ path }) => path === '/words/gate'));
  const calls = async () => (await stage.server.get('/projects/demo/audit?action=call&tool=look-up&outcome=succeeded')).items;
  await becomes(async () => (await calls()).map((call) => `${call.principal_name} by ${call.entrance}`).join(), 'admin by bus');

  await (await opens('second')).getByRole('button', { name: 'Drop' }).click();
  await page.getByRole('dialog', { name: 'Drop the message?' }).getByRole('button', { name: 'Drop the message' }).click();
  await page.getByText('No dead letters').waitFor();
  assert.deepEqual((await stage.server.get('/projects/demo/dead-letters')).items, []);
});
