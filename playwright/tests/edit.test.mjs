import assert from 'node:assert/strict';

import { DefinitionPage } from '../pages/definition.mjs';
import { visit } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const definition = (name, description = 'As it was.') => `name: ${name}
type: openapi
description: ${description}
group: [writing]
options: { http: { base_url: "https://weather.example", path: "/${name}" } }
`;

const stored = (tool) => stage.server.get(`/projects/demo/tools/${tool}`);

stage.story('what is saved was seen as a difference, with a note', async (page) => {
  await stage.server.uploadTools('demo', definition('edited'));
  const editing = new DefinitionPage(page);
  await editing.open('edited');
  await becomes(() => editing.reviewButton.isDisabled(), true, 'there is nothing to save');
  await editing.yaml.replace('As it was.', 'As it became.');
  await editing.reviewButton.click();
  await editing.review.getByText('As it was.').waitFor();
  await editing.review.getByText('As it became.').waitFor();
  assert.equal((await stored('edited')).revision, 1, 'looking stores nothing');
  await editing.review.getByRole('button', { name: 'Back to the editor' }).click();
  await editing.save('because it changed');
  await editing.saved();
  assert.equal((await stored('edited')).description, 'As it became.');
  const { items } = await stage.server.get('/projects/demo/tools/edited/revisions');
  assert.equal(items[0].note, 'because it changed');
});

stage.story('what was typed is discarded only after a question', async (page) => {
  await stage.server.uploadTools('demo', definition('discarded'));
  const editing = new DefinitionPage(page);
  await editing.open('discarded');
  const discard = page.getByRole('button', { name: 'Discard', exact: true });
  const question = page.getByRole('dialog', { name: 'Discard the changes?' });
  await becomes(() => discard.isDisabled(), true, 'there is nothing to discard');
  await editing.yaml.replace('As it was.', 'As it became.');
  await discard.click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'hidden' });
  assert.ok((await editing.yaml.text()).includes('As it became.'), 'a question changes nothing');
  await discard.click();
  await question.getByRole('button', { name: 'Discard the changes' }).click();
  await question.waitFor({ state: 'hidden' });
  assert.ok((await editing.yaml.text()).includes('As it was.'));
  assert.ok(!(await editing.yaml.text()).includes('As it became.'));
});

stage.story('form and YAML are two views of one definition', async (page) => {
  await stage.server.uploadTools('demo', definition('stepped'));
  const editing = new DefinitionPage(page);
  await editing.open('stepped');
  const description = editing.form.getByLabel('description', { exact: true }).first();
  await description.fill('Written in the form.');
  await page.waitForFunction(() => document.querySelector('.editor textarea').value.includes('Written in the form.'));
  await editing.yaml.replace('Written in the form.', 'Written in the text.');
  await page.waitForFunction(
    (field) => field.value === 'Written in the text.',
    await description.elementHandle(),
  );
  await editing.yaml.replace('group:', 'grop:');
  await editing.yaml.faults.first().waitFor();
  await page.getByRole('button', { name: /^Line \d+, column 1$/ }).first().waitFor();
  await becomes(() => editing.reviewButton.isDisabled(), true, 'what is wrong cannot be saved');
});

stage.story('the user who saves second sees what the first one changed, and loses nothing', { refusals: ['/projects/demo/tools/disputed'] }, async (page) => {
  await stage.server.uploadTools('demo', definition('disputed'));
  const mine = new DefinitionPage(page);
  await mine.open('disputed');
  await visit(stage.browser, stage.server.origin, { storageState: stage.session }, async (other) => {
    const theirs = new DefinitionPage(other);
    await theirs.open('disputed');
    await theirs.yaml.replace('As it was.', 'As they see it.');
    await theirs.save('theirs');
    await theirs.saved();
  });
  await mine.yaml.replace('- writing', '- writing\n  - knowledge');
  const draft = await mine.yaml.text();
  await mine.save('mine');
  await mine.conflict.getByText('As they see it.').first().waitFor();
  assert.equal(await mine.yaml.text(), draft, 'the draft is kept');
  assert.deepEqual((await stored('disputed')).group, ['writing'], 'nothing was saved');
  await mine.conflict.getByRole('button', { name: 'Use both together' }).click();
  await mine.save('both');
  await mine.saved();
  const { description, group, revision } = await stored('disputed');
  assert.deepEqual({ description, group, revision }, { description: 'As they see it.', group: ['writing', 'knowledge'], revision: 3 });
});

stage.story('a draft outlives the page', async (page) => {
  await stage.server.uploadTools('demo', definition('drafted'));
  const editing = new DefinitionPage(page);
  await editing.open('drafted');
  await editing.yaml.replace('As it was.', 'Not saved yet.');
  await editing.form.getByLabel('description', { exact: true }).first().and(page.locator(':enabled')).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Go on with the draft' }).click();
  assert.match(await editing.yaml.text(), /Not saved yet\./);
});
