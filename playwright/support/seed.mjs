// A project in which everything has something to show.
import { petstore } from './descriptions.mjs';
import { McpUpstream, SERVER } from './mcp-upstream.mjs';
import { SERVICE } from './pages.mjs';
import { Server, TOOLS } from './server.mjs';
import { until } from './wait.mjs';
import { Upstream } from './upstream.mjs';

/** Tools that really answer: they lead to the upstream, and move a workflow from state to state. */
const workflow = (upstream) => `
name: look-up
type: openapi
description: Looks a word up. Starts the work.
group: [knowledge]
available_in_states: [undefined, found]
state: found
parameters: { type: object, properties: { word: { type: string, description: What to look up. } }, required: [word] }
options: { http: { base_url: "${upstream}", path: "/words/{word}" } }
---
name: summarise
type: openapi
description: Summarises what was found.
group: [knowledge, writing]
available_in_states: [found]
state: summed-up
parameters: { type: object, properties: { words: { type: integer, minimum: 1 } } }
options: { http: { base_url: "${upstream}", path: "/summary", query: { words: words } } }
---
name: publish
type: openapi
description: Publishes the summary, and ends the work.
group: [writing]
available_in_states: [summed-up]
state: undefined
parameters: { type: object, properties: {} }
options: { http: { base_url: "${upstream}", path: "/publish", method: POST } }
---
name: break-down
type: openapi
description: Always fails.
group: [knowledge]
parameters: { type: object, properties: {} }
options: { http: { base_url: "${upstream}", path: "/fail/always" } }
`;

/**
 * A server with an upstream and two projects. `demo` has tools of all kinds, grants, keys, sessions, records, alerts,
 * limits, secrets, policy tests and an MCP server; `blank` has nothing. `stop` ends all of it.
 */
export async function startLively() {
  const [upstream, mcp] = await Promise.all([Upstream.start(), McpUpstream.start()]);
  let server;
  const stop = async () => {
    await server?.stop();
    await Promise.all([upstream.stop(), mcp.stop()]);
  };
  try {
    server = await Server.start({ TOOLGATE_EGRESS_ALLOW: `${upstream.origin},${mcp.origin},https://weather.example` });
    await server.signIn();
    await server.createProject('demo', 'Demonstration');
    await server.createProject('blank', 'Blank page');
    await fill(server, upstream);
    await server.put(`/projects/demo/mcp-servers/${SERVER}`, { url: mcp.url, description: 'Weather of the next days' }, {});
    await server.post(`/projects/demo/mcp-servers/${SERVER}/test`, {});
    await server.uploadTools('demo', `tool-service: {${SERVICE}: {request-queue: tg.demo.joke, response-queue: tg.demo.joke-answers}}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { server, upstream, mcp, stop };
}

/** An import with two changes that wait; one of them is of a place that was edited here too. */
export async function importPetstore(server, project, origin, words = {}) {
  await server.importDescription(project, 'petstore', petstore(origin, words));
  const { definition } = await server.get(`/projects/${project}/tools/getPet`);
  await server.post(`/projects/${project}/tools`, { ...definition, description: 'Gets our pet.' });
  const newer = petstore(origin, { ...words, version: '2', get: 'Get one pet', withLimit: true });
  await server.importDescription(project, 'petstore', newer, { again: true });
}

async function fill(server, upstream) {
  await server.uploadTools('demo', `${TOOLS}---${workflow(upstream.origin)}`);
  await server.put('/projects/demo/groups/knowledge', { description: 'Reading what others have written.' });
  await server.put('/projects/demo/states/found', { description: 'Something was found.' });
  await server.put('/projects/demo/secrets/WEATHER_KEY', { value: 'a value that nobody reads' });
  await server.post('/projects/demo/policy-tests', [
    {
      name: 'readers-do-not-publish',
      granted: ['knowledge'],
      group: ['knowledge'],
      state: 'summed-up',
      tool: 'publish',
      expect: { effect: 'deny', code: 'tool_not_in_groups' },
    },
  ]);
  await importPetstore(server, 'demo', upstream.origin);
  await server.put('/projects/demo/limits', {
    limits: [{ name: 'per-key', subject: { kind: 'each_key' }, requests: { count: 1000, per_s: 60 }, concurrency: 20 }],
  });
  const reader = await server.createKey('demo', 'reading agent', ['knowledge']);
  const writer = await server.createKey('demo', 'writing agent', ['knowledge', 'writing']);
  const call = (key, request) => server.call('demo', key.secret, request);
  const session = await server.ask('POST', '/projects/demo/sessions', {
    body: { group: ['knowledge', 'writing'], label: 'the daily summary' },
    token: writer.secret,
  });
  const inSession = { session_id: session.body.id };
  await call(writer, { ...inSession, tool: 'look-up', arguments: { word: 'gate' } });
  await call(writer, { ...inSession, tool: 'publish', arguments: {} });
  await call(writer, { ...inSession, tool: 'summarise', arguments: { words: 12 } });
  await call(reader, { tool: 'break-down', group: ['knowledge'], arguments: {} });
  await call(reader, { tool: 'publish', group: ['writing'], arguments: {} });
  // Asking for more than was granted, again and again, raises an alert.
  for (let attempt = 0; attempt < 6; attempt += 1) await call(reader, { tool: 'publish', group: ['*'], arguments: {} });
  await until('the alert', async () => (await server.get('/projects/demo/alerts')).items.length > 0);
}
