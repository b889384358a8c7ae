// A form that changes something has no fields before its values are there: what was typed into it would be replaced.
import assert from 'node:assert/strict';

import { setStage } from '../support/stage.mjs';

const stage = setStage();
const IF_NEW = { 'if-none-match': '*' };

const FORMS = [
  {
    what: 'the name of a project',
    page: '/ui/projects/demo/settings',
    asks: '**/projects/demo',
    declare: () => {},
    open: () => {},
    field: 'Name of the project',
    value: 'Demonstration',
  },
  {
    what: 'a group',
    page: '/ui/projects/demo/groups?group=archive',
    asks: '**/projects/demo/groups/archive',
    declare: (server) => server.put('/projects/demo/groups/archive', { description: 'What is over.' }, IF_NEW),
    open: () => {},
    field: 'Description',
    value: 'What is over.',
  },
  {
    what: 'a guide',
    page: '/ui/projects/demo/guides',
    asks: '**/projects/demo/guides/tidying',
    declare: (server) => server.put('/projects/demo/guides/tidying', { summary: 'How to tidy up', text: '# Tidying' }, IF_NEW),
    open: (page) => page.getByRole('row', { name: /tidying/ }).getByRole('button', { name: 'Edit' }).click(),
    field: 'Summary',
    value: 'How to tidy up',
  },
];

for (const { what, page: path, asks, declare, open, field, value } of FORMS) {
  stage.story(`the form of ${what} appears with its values`, async (page) => {
    await declare(stage.server);
    let pass;
    const passes = new Promise((resolve) => { pass = resolve; });
    await page.route(asks, async (route) => {
      await passes;
      await route.continue();
    });
    const asked = page.waitForRequest(asks);
    await page.goto(path);
    await open(page);
    await asked;
    assert.equal(await page.getByLabel(field).count(), 0, 'nothing to type into yet');
    pass();
    await page.getByLabel(field).waitFor();
    assert.equal(await page.getByLabel(field).inputValue(), value);
  });
}

stage.story('the form of a group stays when its first save is read again', { refusals: ['/projects/demo/groups/attic'] }, async (page) => {
  await page.goto('/ui/projects/demo/groups?group=attic');
  const absent = page.getByText('There is no such group yet: saving declares it.');
  await absent.waitFor();
  const field = await page.getByLabel('Description').elementHandle();
  await field.fill('What is seldom needed.');
  await page.getByRole('button', { name: 'Save' }).click();
  await absent.waitFor({ state: 'detached' });
  assert.equal(await field.evaluate((element) => element.isConnected), true, 'it is not made again');
  assert.equal(await field.inputValue(), 'What is seldom needed.');
});
