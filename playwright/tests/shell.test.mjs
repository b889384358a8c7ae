// What is seen before the dashboard has arrived, as on a slow network.
import assert from 'node:assert/strict';

import { setStage } from '../support/stage.mjs';

const stage = setStage();

stage.story('the shell and a skeleton are there before the program is', async (page) => {
  let letGo;
  const held = new Promise((go) => {
    letGo = go;
  });
  await page.route('**/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/ui/projects/demo/tools', { waitUntil: 'commit' });
  await page.getByText('Toolgate', { exact: true }).waitFor();
  await page.locator('.skeleton-row').first().waitFor();
  const bar = () => page.locator('.top-bar').evaluate((one) => one.getBoundingClientRect().toJSON());
  const before = await bar();
  letGo();
  await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
  assert.deepEqual(await bar(), before, 'the bar stays where it was');
});
