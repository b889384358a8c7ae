import assert from 'node:assert/strict';

import { DefinitionPage } from '../pages/definition.mjs';
import { UploadPage } from '../pages/upload.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { SERVER } from '../support/mcp-upstream.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const tool = (name, group = 'writing') => `name: ${name}
type: openapi
description: Sends a request.
group:
  - ${group}
options:
  http:
    base_url: "https://weather.example"
    path: "/${name}"
`;

stage.story('keys and values are completed and explained from the schema of definitions', async (page) => {
  const { keyboard } = page;
  const { editor } = new UploadPage(page);
  await new UploadPage(page).open('demo');
  await editor.ready();
  await editor.field.focus();
  await keyboard.type('na');
  await editor.complete('name');
  await keyboard.type('sent');
  await keyboard.press('Enter');
  await keyboard.type('type: open');
  await editor.complete('openapi');
  await keyboard.press('Enter');
  await keyboard.type('op');
  await editor.complete('options');
  await keyboard.type('time');
  await editor.complete('timeout_ms');
  await keyboard.type('500');
  await becomes(() => editor.text(), 'name: sent\ntype: openapi\noptions:\n  timeout_ms: 500');
  await editor.box.getByText('timeout_ms').hover();
  await page.locator('.cm-hint').getByText('The longest time one call may take', { exact: false }).waitFor();
});

stage.story('names of the project complete what refers to them', async (page) => {
  const { keyboard } = page;
  const { editor } = new UploadPage(page);
  const lists = ['groups', 'states', 'secrets', 'mcp-servers', 'tool-services'];
  const read = lists.map((list) => page.waitForResponse((answer) => answer.url().includes(`/projects/demo/${list}`)));
  await new UploadPage(page).open('demo');
  await Promise.all([editor.ready(), ...read]);
  await editor.field.focus();
  await keyboard.type('name: own');
  const complete = async (typed, name) => {
    await keyboard.press('Enter');
    await keyboard.press('Home');
    await keyboard.type(typed);
    await editor.complete(name);
  };
  await complete('group: [know', 'knowledge');
  await keyboard.press('End');
  await complete('available_in_states: [fou', 'found');
  await keyboard.press('End');
  await complete('state: summ', 'summed-up');
  await complete('type: mcp\nmcp_server: w', SERVER);
  await complete('description: ${secret:WEA', 'WEATHER_KEY');
  await becomes(
    () => editor.text(),
    `name: own\ngroup: [knowledge]\navailable_in_states: [found]\nstate: summed-up\ntype: mcp\nmcp_server: ${SERVER}\ndescription: \${secret:WEATHER_KEY}`,
  );
});

stage.story('a fault is marked where it is, and corrected with one press', { refusals: ['/projects/demo/tools'] }, async (page) => {
  const upload = new UploadPage(page);
  await upload.open('demo');
  await upload.editor.write(tool('corrected').replace('group:', 'grop:'));
  await upload.check.click();
  await becomes(async () => (await upload.editor.marks.allTextContents()).join(), 'grop');
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Replace with group' }).click();
  await becomes(() => upload.editor.text(), tool('corrected'));
  await becomes(() => upload.editor.marks.count(), 0);
  await upload.check.click();
  await upload.outlook.waitFor();
});

stage.story('Tab leads on, Escape closes what is open, and a search finds', async (page) => {
  const { keyboard } = page;
  const upload = new UploadPage(page);
  await upload.open('demo');
  await upload.editor.write(tool('searched'));
  await keyboard.press('ControlOrMeta+f');
  const find = page.getByRole('textbox', { name: 'Find' });
  await find.pressSequentially('weather');
  await becomes(() => page.locator('.cm-searchMatch').count(), 1);
  await assertAccessible(page);
  await keyboard.press('Escape');
  await find.waitFor({ state: 'hidden' });
  await becomes(() => upload.editor.field.evaluate((field) => field === document.activeElement), true);
  await keyboard.press('Tab');
  assert.equal(await upload.check.evaluate((button) => button === document.activeElement), true);
  await becomes(() => upload.editor.text(), tool('searched'), 'Tab wrote nothing');
  await upload.editor.field.focus();
  await keyboard.press('ControlOrMeta+End');
  await keyboard.type('?');
  assert.equal(await page.getByRole('dialog').count(), 0, 'what is typed is no shortcut');
});

stage.story('a change is reviewed side by side and inline', async (page) => {
  await stage.server.uploadTools('demo', tool('compared'));
  const editing = new DefinitionPage(page);
  await editing.open('compared');
  await editing.yaml.replace('- writing', '- knowledge');
  await editing.reviewButton.click();
  const side = (name) => editing.review.getByRole('textbox', { name });
  await side('Difference: before').getByText('writing').waitFor();
  await side('Difference: after').getByText('knowledge').waitFor();
  await assertAccessible(page);
  await editing.review.getByRole('button', { name: 'Inline' }).click();
  await editing.review.locator('.cm-deletedChunk').getByText('writing').waitFor();
  await side('Difference').getByText('knowledge').waitFor();
  await assertAccessible(page);
});

stage.story('without the bundle the plain field remains', { refusals: ['*'] }, async (page) => {
  await page.route('**/ui/assets/vendor/**', (route) => route.abort());
  const upload = new UploadPage(page);
  await upload.open('demo');
  await upload.editor.field.fill(tool('plain'));
  await upload.check.click();
  await upload.outlook.waitFor();
  assert.equal(await upload.editor.field.inputValue(), tool('plain'));
});
