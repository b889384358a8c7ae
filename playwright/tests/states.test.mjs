import assert from 'node:assert/strict';

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
    assert.ok(states.some((told) => told.startsWith(`${name}, `) && /reach/.test(told)), `${name} in ${states}`);
  }
});

stage.story('the drawing goes by the size of the window until somebody moves it', async (page) => {
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
