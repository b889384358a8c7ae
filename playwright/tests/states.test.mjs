import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

stage.story('the drawing shows what the definitions say', async (page) => {
  const graph = await stage.server.get('/projects/demo/states/graph');
  await page.goto('/ui/projects/demo/states');
  await settled(page);
  const drawing = page.getByRole('region', { name: 'State machine' });
  const boxes = drawing.getByRole('button');
  await boxes.first().waitFor();
  const states = await boxes.evaluateAll((all) => all.map((box) => box.getAttribute('aria-label').split(',')[0]));
  assert.deepEqual(states.sort(), graph.states.map((state) => state.name).sort());
  const arrows = await drawing.locator('.graph-arrow title').allTextContents();
  assert.deepEqual(arrows.sort(), graph.transitions.map((move) => move.tools.join(', ')).sort());
  for (const name of graph.unreachable) {
    await drawing.getByRole('button', { name: `${name}, cannot be reached` }).waitFor();
  }
  for (const box of await boxes.all()) {
    assert.equal(await box.evaluate((one) => one.tabIndex), 0, 'the keyboard reaches every state');
  }
});
