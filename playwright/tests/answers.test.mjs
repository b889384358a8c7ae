// Answers that the page does not understand, as when it is older than the server.
import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

/** Gives another answer in place of the server's; returns how to stop that. */
async function answered(page, path, body) {
  const isAsked = (url) => url.pathname === path;
  await page.route(isAsked, (route) =>
    route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(body) }),
  );
  return () => page.unroute(isAsked);
}

for (const [name, address, path] of [
  ['the overview', 'overview', '/projects/demo/usage/series'],
  ['a tool', 'tools/look-up', '/projects/demo/tools/look-up'],
  ['the permissions', 'permissions', '/projects/demo/permissions'],
  ['the groups', 'groups', '/projects/demo/groups'],
  ['the states', 'states', '/projects/demo/states/graph'],
  ['the records', 'records', '/projects/demo/audit'],
]) {
  stage.story(`${name} tell an answer that cannot be read, and try again`, async (page) => {
    const mend = await answered(page, path, { something: 'else' });
    await page.goto(`/ui/projects/demo/${address}`);
    const failure = page.getByRole('alert').filter({ hasText: 'The answer could not be read' });
    await failure.first().waitFor();
    await mend();
    await failure.first().getByRole('button', { name: 'Try again' }).click();
    await failure.first().waitFor({ state: 'detached' });
    await settled(page);
    assert.equal(await page.getByRole('alert').count(), 0);
  });
}

stage.story('one entry that cannot be read does not hide the others', async (page) => {
  const { items } = await stage.server.get('/projects/demo/keys');
  await answered(page, '/projects/demo/keys', { items: [{ odd: true }, items[0]], next_cursor: null });
  await page.goto('/ui/projects/demo/keys');
  await page.getByRole('row', { name: items[0].name }).waitFor();
  await page.getByRole('cell', { name: 'This entry cannot be shown' }).waitFor();
});

stage.story('a grant whose end is no time is refused, not stored without an end', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'ending agent', ['knowledge']);
  await page.goto('/ui/projects/demo/permissions');
  await page.getByRole('button', { name: 'ending agent' }).click();
  const drawer = page.getByRole('dialog', { name: 'ending agent' });
  await drawer.getByLabel('Groups').waitFor();
  await settled(page);
  await drawer.getByLabel('Groups').fill('knowledge until tomorrow');
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByRole('alert').getByText('"tomorrow" is no time').waitFor();
  assert.equal((await server.call('demo', agent.secret, { tool: 'look-up', group: ['knowledge'], arguments: { word: 'x' } })).status, 200);
});
