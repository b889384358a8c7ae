import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes, until } from '../support/wait.mjs';

const stage = setStage();

/** The page with the drawing of the state machine. */
async function openDrawing(page) {
  await page.goto('/ui/projects/demo/states');
  await settled(page);
  const drawing = page.getByRole('group', { name: /^State machine/ });
  await drawing.waitFor();
  return drawing;
}

stage.story('the drawing shows what the definitions say', async (page) => {
  const graph = await stage.server.get('/projects/demo/states/graph');
  const drawing = await openDrawing(page);
  const names = (selector) =>
    drawing.locator(selector).evaluateAll((parts) => parts.map((part) => part.getAttribute('aria-label')));
  const states = await names('.state-box');
  assert.deepEqual(
    states.map((name) => name.split(', ')[0]).sort(),
    graph.states.map((state) => state.name).sort(),
  );
  const arrows = graph.transitions.map(({ from = 'every state', to, tools }) => `From ${from} to ${to}: ${tools.join(', ')}`);
  assert.deepEqual((await names('.graph-arrow')).sort(), arrows.sort());
  for (const name of graph.unreachable) {
    assert.ok(states.some((described) => described.startsWith(`${name}, `) && /reach/.test(described)), `${name} in ${states}`);
  }
});

stage.story('the drawing goes by the size of the window until the user moves it', async (page) => {
  const drawing = await openDrawing(page);
  const seen = () => drawing.locator('svg.graph').getAttribute('viewBox');
  const whole = await seen();
  await page.setViewportSize({ width: 390, height: 800 });
  await until('a part that can be read', async () => (await seen()) !== whole);
  await page.setViewportSize({ width: 1280, height: 800 });
  await becomes(seen, whole, 'in a window that has room for it');
  await drawing.press('ArrowRight');
  await until('what is further right', async () => (await seen()) !== whole);
  const chosen = await seen();
  await page.setViewportSize({ width: 390, height: 800 });
  // What follows the size has followed it after the next frame.
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  assert.equal(await seen(), chosen);
});

stage.story('the keyboard reaches every state and every arrow', async (page) => {
  const drawing = await openDrawing(page);
  const parts = await drawing.getByRole('button').filter({ visible: true }).all();
  assert.ok(parts.length > 5);
  for (const part of parts) {
    await becomes(() => part.evaluate((one) => one.tabIndex), 0, await part.getAttribute('aria-label'));
  }
});

stage.story('walking through goes where the tools lead', async (page) => {
  const drawing = await openDrawing(page);
  const walk = page.getByRole('region', { name: 'Walk through' });
  const isIn = (state) => walk.getByRole('heading', { name: `In state ${state}` }).waitFor();
  await drawing.getByRole('button', { name: /^undefined,/ }).press('Enter');
  await isIn('undefined');
  for (const [from, tool, to] of [
    ['undefined', 'look-up', 'found'],
    ['found', 'summarise', 'summed-up'],
    ['summed-up', 'publish', 'undefined'],
  ]) {
    const { items } = await stage.server.get(`/projects/demo/tools?state=${from}`);
    const step = walk.getByRole('listitem').filter({ hasText: tool }).getByRole('button', { name: `Go to ${to}` });
    await step.waitFor();
    const open = await walk.locator('.tool-name').allTextContents();
    assert.deepEqual(open.sort(), items.map((item) => item.name).sort(), `open in ${from}`);
    await step.click();
    await isIn(to);
  }
  await walk.getByRole('list', { name: 'The way so far' }).getByText('summarise').waitFor();
});

stage.story('a walk as a caller goes through what the caller can call, and back', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'walking agent', ['knowledge']);
  await openDrawing(page);
  const walk = page.getByRole('region', { name: 'Walk through' });
  const isIn = (state) => walk.getByRole('heading', { name: `In state ${state}` }).waitFor();
  const open = () => walk.locator('.tool-name').allTextContents();
  await walk.getByLabel('Caller').focus();
  await walk.locator('option[value="walking agent (service key)"]').waitFor({ state: 'attached' });
  await walk.getByLabel('Caller').fill('walking agent (service key)');
  await walk.getByLabel('Caller').press('Enter');
  await page.waitForURL((address) => address.searchParams.get('who') === `service_key:${agent.id}`);
  await walk.getByRole('heading', { name: 'From here the caller can call' }).waitFor();
  const callable = async (state) => {
    const principal = `service_key:${agent.id}`;
    const { items } = await server.post('/projects/demo/explain', { principal, group: ['knowledge'], state, assume_session: true, limit: 100 });
    return items.filter(({ effect }) => effect === 'allow').map(({ tool }) => tool).sort().join();
  };
  await becomes(async () => (await open()).sort().join(), await callable('undefined'));
  await walk.getByRole('button', { name: 'Go to found' }).click();
  await isIn('found');
  await becomes(async () => (await open()).sort().join(), await callable('found'));
  await walk.getByRole('listitem').filter({ hasText: 'summarise' }).getByRole('button', { name: 'Go to summed-up' }).click();
  await isIn('summed-up');
  await becomes(async () => (await open()).includes('publish'), false, 'it does not hold the group writing');
  const trail = walk.getByRole('list', { name: 'The way so far' });
  await trail.getByRole('button', { name: 'found' }).click();
  await isIn('found');
  await becomes(async () => (await trail.getByRole('button').allTextContents()).join(), 'undefined', 'the way to it stays');
  await assertAccessible(page);

  await walk.getByRole('button', { name: 'Every tool' }).click();
  await walk.getByRole('heading', { name: 'From here the caller can call' }).waitFor({ state: 'hidden' });
  await walk.getByLabel('With the groups').fill('writing');
  await walk.getByLabel('With the groups').press('Enter');
  await walk.getByLabel('In the state').fill('summed-up');
  await walk.getByLabel('In the state').press('Enter');
  await isIn('summed-up');
  await becomes(async () => (await open()).join(), 'publish');
  await walk.getByRole('button', { name: 'Go to undefined' }).click();
  await isIn('undefined');
  await page.setViewportSize({ width: 320, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits');
});

/** Two of the texts and boxes of the drawing that lie over one another; none is as it must be. */
const overlaps = (drawing) =>
  drawing.evaluate((frame) => {
    const parts = [...frame.querySelectorAll('.graph .state-box rect, .graph .graph-label')];
    const bounds = parts.map((part) => ({ name: part.textContent || part.parentElement.getAttribute('aria-label'), ...part.getBoundingClientRect().toJSON() }));
    const found = [];
    for (const [at, a] of bounds.entries()) {
      for (const b of bounds.slice(at + 1)) {
        const [across, down] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        if (across > 0.5 && down > 0.5) found.push(`${a.name} and ${b.name}`);
      }
    }
    return { parts: parts.length, found };
  });

/** A project whose tools lead from state to state; each move has the numbers of its two states. */
async function machine(server, id, moves) {
  await server.createProject(id, id);
  const name = (at) => (at === 0 ? 'undefined' : `phase-${at}`);
  const tools = moves.map(
    ([from, to], at) => `
name: ${at % 3 ? 'summarise' : 'look-up'}-documents-${at}
type: static
description: A step.
available_in_states: [${name(from)}]
state: ${name(to)}
parameters: { type: object, properties: {} }
options: { static: { result: done } }
`,
  );
  await server.uploadTools(id, tools.join('---'));
}

for (const [id, moves, states] of [
  ['eight-states', Array.from({ length: 60 }, (_, at) => [(at * 3) % 8, (at * 5 + Math.floor(at / 8) + 1) % 8]), 8],
  ['forty-states', [...Array.from({ length: 39 }, (_, at) => [at, at + 1]), ...Array.from({ length: 15 }, (_, at) => [at * 2, (at * 7 + 3) % 40])], 40],
]) {
  stage.story(`labels and boxes never overlap: ${id}`, async (page) => {
    await machine(stage.server, id, moves);
    await page.goto(`/ui/projects/${id}/states`);
    await settled(page);
    const drawing = page.getByRole('group', { name: /^State machine/ });
    await drawing.waitFor();
    for (const width of [390, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await drawing.press('0');
      const { parts, found } = await overlaps(drawing);
      assert.ok(parts > states, `${parts} parts`);
      assert.deepEqual(found, [], `at ${width}`);
    }
  });
}

stage.story('a part of the machine is shown: around a state, and the way to it', async (page) => {
  const drawing = await openDrawing(page);
  const names = () => drawing.locator('.state-box').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label').split(', ')[0]).sort());
  await drawing.getByRole('button', { name: /^summed-up,/ }).press('Enter');
  await page.getByLabel('Show', { exact: true }).selectOption('way');
  await becomes(async () => (await names()).join(' '), 'found summed-up undefined', 'the way');
  await page.getByLabel('Show', { exact: true }).selectOption('around');
  await becomes(async () => (await names()).includes('summed-up'), true, 'what is around it');
  await page.reload();
  assert.equal(await page.getByLabel('Show', { exact: true }).inputValue(), 'around');
});

stage.story('the drawing shows how many sessions are in each state, and a map while a part is seen', async (page) => {
  const { items } = await stage.server.get('/projects/demo/sessions/by-state');
  assert.ok(items.length > 0);
  const drawing = await openDrawing(page);
  for (const { name, sessions } of items) {
    await drawing.getByText(`${sessions} session${sessions === 1 ? '' : 's'} in ${name} now`).waitFor({ state: 'attached' });
  }
  await drawing.press('0');
  const map = drawing.locator('.graph-map');
  await becomes(() => map.count(), 0, 'all is seen');
  await drawing.press('+');
  await map.waitFor();
  const seen = () => drawing.locator('svg.graph').getAttribute('viewBox');
  const before = await seen();
  await map.click({ position: { x: 5, y: 5 } });
  await until('another part', async () => (await seen()) !== before);
});
