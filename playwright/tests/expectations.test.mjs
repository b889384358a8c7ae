// Policy tests before a change: one that fails already neither warns nor blocks, one that the change would break does both.
import assert from 'node:assert/strict';

import { DefinitionPage } from '../pages/definition.mjs';
import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';
import { writeInto } from '../pages/editor.mjs';

const stage = setStage();

const TESTS = '/projects/demo/policy-tests';
const expectation = (name, expect) => ({ name, granted: ['knowledge'], group: ['knowledge'], tool: 'read-page', expect });
/** It fails: the tool may be called. */
const FAILING = expectation('nobody-reads', { effect: 'deny' });
/** It holds until the tool cannot be called any more. */
const HOLDING = expectation('readers-read', { effect: 'allow' });

/** Leaves the project with these policy tests alone. */
const expecting = (...tests) => stage.server.post(`${TESTS}?replace_all=true`, tests);
const tool = (name) => stage.server.get(`/projects/demo/tools/${name}`);
const escape = (part) => part.getByRole('checkbox', { name: /although policy tests would fail$/ });

/** The dialog neither warns nor offers to break anything, and says what fails already. */
async function assertNoWarning(part) {
  await part.getByText('Fails already, before this change: nobody-reads').waitFor();
  assert.equal(await part.getByText(/would fail/).count(), 0);
  assert.equal(await escape(part).count(), 0);
}

/** The dialog warns, and its button waits for the box. */
async function passByEscape(part, button) {
  await part.getByText('1 policy test would fail').waitFor();
  await part.getByText('readers-read').waitFor();
  await becomes(() => button.isDisabled(), true, 'nothing is broken by mistake');
  await escape(part).check();
  await button.click();
  await part.waitFor({ state: 'hidden' });
}

stage.story('a test that fails already does not hold up a change of many tools', async (page) => {
  await expecting(FAILING);
  await page.goto('/ui/projects/demo/tools');
  await page.getByRole('checkbox', { name: 'Select read-page', exact: true }).check();
  await page.getByRole('region', { name: 'Selected tools' }).getByRole('button', { name: 'Add groups' }).click();
  const dialog = page.getByRole('dialog', { name: /^Add groups/ });
  await dialog.getByLabel('Groups to add').fill('extra');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await assertNoWarning(dialog);
  await dialog.getByRole('button', { name: 'Add groups (1)' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.ok((await tool('read-page')).group.includes('extra'));
});

stage.story('a test that fails already does not hold up what was collected in the matrix', async (page) => {
  await expecting(FAILING);
  await page.goto('/ui/projects/demo/groups?view=matrix');
  await settled(page);
  await page.getByRole('checkbox', { name: 'read-page in writing' }).check();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog', { name: 'Review the change' });
  await assertNoWarning(dialog);
  await dialog.getByRole('button', { name: 'Save the change' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.ok((await tool('read-page')).group.includes('writing'));
});

stage.story('a test that fails already does not hold up the editor', async (page) => {
  await expecting(FAILING);
  const editing = new DefinitionPage(page);
  await editing.open('read-page');
  await editing.yaml.replace('Reads a web page', 'Reads one web page');
  await editing.reviewButton.click();
  await assertNoWarning(editing.review);
  await editing.review.getByRole('button', { name: 'Save', exact: true }).click();
  await editing.saved();
});

stage.story('a test that fails already does not hold up an upload', async (page) => {
  await expecting(FAILING);
  await page.goto('/ui/projects/demo/upload');
  const definition = 'name: another\ntype: openapi\ndescription: One more.\noptions: {http: {base_url: "https://weather.example", path: /x}}\n';
  await writeInto(page.getByRole('textbox', { name: 'Definitions' }), definition);
  await page.getByRole('button', { name: 'Check' }).click();
  await assertNoWarning(page.getByRole('main'));
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Applied 1 definition.').waitFor();
});

stage.story('what would be broken is said, and takes a second decision', async (page) => {
  await expecting(FAILING, HOLDING);
  await page.goto('/ui/projects/demo/tools/read-page');
  await page.getByRole('button', { name: 'Disable', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Disable read-page?' });
  // Disabled, nobody reads: what failed holds then, and what held fails.
  await passByEscape(dialog, dialog.getByRole('button', { name: 'Disable the tool' }));
  await becomes(async () => (await tool('read-page')).enabled, false);

  await page.getByRole('button', { name: 'Enable', exact: true }).click();
  const enabling = page.getByRole('dialog', { name: 'Enable read-page?' });
  await enabling.getByText('would fail').first().waitFor();
  await escape(enabling).check();
  await enabling.getByRole('button', { name: 'Enable the tool' }).click();
  await becomes(async () => (await tool('read-page')).enabled, true);
});

stage.story('a change that a test is against is refused in the editor until it is meant', async (page) => {
  await expecting(HOLDING);
  const editing = new DefinitionPage(page);
  await editing.open('read-page');
  await editing.yaml.write(`name: read-page
type: openapi
description: Reads a web page.
group: [archive]
options: { http: { base_url: "https://weather.example", path: /x } }
`);
  await editing.reviewButton.click();
  await passByEscape(editing.review, editing.review.getByRole('button', { name: 'Save', exact: true }));
  assert.deepEqual((await tool('read-page')).group, ['archive']);
});
