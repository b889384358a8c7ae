import assert from 'node:assert/strict';

import { NewImportPage, QuarantinePage } from '../pages/imports.mjs';
import { settled, signedIn, visit } from '../support/browser.mjs';
import { petstore } from '../support/descriptions.mjs';
import { press, tabTo } from '../support/keyboard.mjs';
import { importPetstore } from '../support/seed.mjs';
import { becomes, until } from '../support/wait.mjs';
import { setStage } from '../support/stage.mjs';
import { writeInto } from '../pages/editor.mjs';

const stage = setStage();

/** A project of its own for a story, whose tools the administrator may call. */
async function project(id) {
  await stage.server.createProject(id, `Stories of ${id}`);
  return id;
}

const tool = (id, name) => stage.server.get(`/projects/${id}/tools/${name}`);

stage.story('from a description to the first call', async (page) => {
  const id = await project('first-import');
  const wizard = new NewImportPage(page);
  await wizard.open(id);
  await wizard.read(petstore(stage.upstream.origin));
  await page.getByText('Petstore 1, OpenAPI 3.1, 4 operations.').waitFor();
  await wizard.operations.getByText('cannot become a tool').waitFor();
  await becomes(() => wizard.box('POST /photos').isDisabled(), true, 'what cannot become a tool cannot be chosen');

  // All of it, some of it, and a pattern that says which.
  await becomes(() => wizard.box('pets').isChecked(), true);
  await wizard.box('GET /pets/{petId}').uncheck();
  await becomes(() => wizard.box('pets').evaluate((box) => box.indeterminate), true);
  await wizard.search.fill('/pets*');
  await wizard.box('GET /pets/{petId}').waitFor({ state: 'hidden' });
  await wizard.only.click();
  await wizard.operations.getByText('2 of 4 operations chosen.').waitFor();
  await wizard.operations.getByText('Later operations below /pets* become tools too.').waitFor();
  await page.waitForURL((address) => address.searchParams.get('q') === '/pets*');

  // Where an argument comes from is decided before the import.
  await page.getByRole('button', { name: 'Arguments of addPet' }).click();
  await wizard.arguments.getByLabel('body').selectOption('fixed');
  await wizard.arguments.getByLabel('Value').fill('{"name": "Rex"}');
  await wizard.arguments.getByRole('button', { name: 'Done' }).click();

  await wizard.hosts.getByText('allowed', { exact: true }).waitFor();
  await wizard.hosts.getByLabel(/^petKey: /).fill('secret:PET_KEY');
  await becomes(() => wizard.id.inputValue(), 'petstore');
  assert.equal(await wizard.importButton.count(), 0, 'one looks before one imports');
  await wizard.look.click();
  await wizard.outlook.waitFor();
  await wizard.outlook.getByText('the project has no secret PET_KEY').waitFor();
  assert.equal((await stage.server.get(`/projects/${id}/imports`)).items.length, 0, 'looking stores nothing');
  await wizard.importButton.click();
  await wizard.imported.waitFor();

  const imported = await stage.server.get(`/projects/${id}/imports/petstore`);
  assert.deepEqual(imported.source.paths, ['/pets*']);
  assert.deepEqual(imported.source.credentials, { petKey: 'secret:PET_KEY' });
  await until('the fixed argument', async () => (await tool(id, 'addPet')).definition.options.args !== undefined);
  assert.deepEqual((await tool(id, 'addPet')).definition.options.args.fixed, { body: { name: 'Rex' } });
  assert.equal((await tool(id, 'listPets')).enabled, false);

  // One is tried before the others are enabled.
  await stage.server.put(`/projects/${id}/secrets/PET_KEY`, { value: 'the key of the pets' });
  await page.getByLabel('Groups', { exact: true }).first().fill('pets');
  await page.getByRole('button', { name: 'Try listPets' }).click();
  const trying = page.getByRole('region', { name: 'Try listPets' });
  await trying.getByText('Calls of a disabled tool are refused.').waitFor();
  await trying.getByRole('button', { name: 'Enable it' }).click();
  await page.getByRole('button', { name: 'Save the change' }).click();
  await trying.getByRole('button', { name: 'Call the tool' }).click();
  await trying.getByText('succeeded').waitFor();
  const asked = stage.upstream.requests.at(-1);
  assert.deepEqual([asked.path, asked.headers['x-pet-key']], ['/pets', 'the key of the pets']);
  const { enabled, group } = await tool(id, 'listPets');
  assert.deepEqual({ enabled, group }, { enabled: true, group: ['pets'] });
  assert.equal((await tool(id, 'addPet')).enabled, false, 'only the tool that is tried is enabled');

  // Then all of them, in one step.
  await page.getByRole('button', { name: 'Enable 2 tools' }).click();
  await page.getByRole('button', { name: 'Save the change' }).click();
  await until('the other tool', async () => (await tool(id, 'addPet')).enabled);
  await page.getByRole('button', { name: 'Try addPet' }).click();
  await page.getByRole('region', { name: 'Try addPet' }).getByRole('button', { name: 'Call the tool' }).waitFor();

  await page.goto(`/ui/projects/${id}/imports/petstore`);
  await page.getByRole('heading', { name: 'Petstore', level: 1 }).waitFor();
  await page.getByRole('table', { name: 'operations' }).getByText('enabled').first().waitFor();
});

stage.story('the last disabled tool of an import is enabled and tried on its page', async (page) => {
  const id = await project('tried-later');
  await stage.server.importDescription(id, 'petstore', petstore(stage.upstream.origin));
  for (const name of ['listPets', 'addPet']) {
    const { definition } = await tool(id, name);
    await stage.server.post(`/projects/${id}/tools`, { ...definition, enabled: true });
  }
  await page.goto(`/ui/projects/${id}/imports/petstore`);
  await page.getByText('Enable 1 disabled tool, and try them').click();
  await page.getByRole('button', { name: 'Try getPet' }).click();
  const trying = page.getByRole('region', { name: 'Try getPet' });
  await trying.getByRole('button', { name: 'Enable it' }).click();
  await page.getByRole('button', { name: 'Save the change' }).click();
  await page.getByText('Every tool is enabled').waitFor();
  const typed = trying.getByLabel('Arguments as JSON');
  await becomes(() => typed.inputValue(), '{\n  "petId": ""\n}', 'what is required is there to be filled in');
  await typed.fill('petId: rex');
  await trying.getByRole('button', { name: 'Call the tool' }).click();
  await trying.getByText('The arguments are a JSON object.').waitFor();
  await typed.fill('{"petId": "rex"}');
  await trying.getByRole('button', { name: 'Call the tool' }).click();
  await trying.getByText('succeeded').waitFor();
  assert.equal(stage.upstream.requests.at(-1).path, '/pets/rex');
});

stage.story('a host that is not allowed is let in by a system administrator', async (page) => {
  const id = await project('closed-host');
  const wizard = new NewImportPage(page);
  await wizard.open(id);
  await wizard.read(petstore('https://petstore.example'));
  await wizard.hosts.getByText('not allowed').waitFor();
  await wizard.hosts.getByRole('button', { name: 'Let this project reach it' }).click();
  const question = page.getByRole('dialog', { name: 'Let this project reach https://petstore.example?' });
  assert.deepEqual((await stage.server.get(`/projects/${id}/egress`)).hosts, [], 'asking does nothing');
  await question.getByRole('button', { name: 'Allow the host' }).click();
  await wizard.hosts.getByText('allowed', { exact: true }).waitFor();
  assert.deepEqual((await stage.server.get(`/projects/${id}/egress`)).hosts, ['https://petstore.example']);

  await page.goto(`/ui/projects/${id}/settings`);
  const hosts = page.getByLabel('Hosts', { exact: true });
  await hosts.waitFor();
  await becomes(() => hosts.inputValue(), 'https://petstore.example');
  await hosts.fill('https://petstore.example\nhttps://photos.example');
  await page.getByRole('button', { name: 'Save the list' }).click();
  await page.getByText('The egress list is saved.').waitFor();
  const { hosts: stored } = await stage.server.get(`/projects/${id}/egress`);
  assert.deepEqual(stored, ['https://petstore.example', 'https://photos.example']);
});

stage.story('a fault in a description is shown where it is', { refusals: ['/projects/blank/imports'] }, async (page) => {
  const wizard = new NewImportPage(page);
  await wizard.open('blank');
  await writeInto(wizard.description, 'openapi: 3.1.0\ninfo: {title: [}');
  await wizard.readButton.click();
  await page.getByRole('alert').waitFor();
  assert.equal(await wizard.operations.count(), 0);
});

stage.story('what a newer description changes waits, and conflicts are decided', async (page) => {
  const id = await project('again');
  await stage.server.importDescription(id, 'petstore', petstore(stage.upstream.origin));
  const { definition } = await tool(id, 'getPet');
  await stage.server.post(`/projects/${id}/tools`, { ...definition, description: 'Gets our pet.', enabled: true });

  await page.goto(`/ui/projects/${id}/imports/petstore?tab=again`);
  const newer = petstore(stage.upstream.origin, { version: '2', get: 'Get one pet', withLimit: true });
  await writeInto(page.getByRole('textbox', { name: 'Description', exact: true }), newer);
  await page.getByRole('button', { name: 'See what has changed' }).click();
  const outlook = page.getByRole('region', { name: 'What importing would do' });
  await outlook.getByText('1 conflict').waitFor();
  await outlook.getByText('Unchanged: 1 operation.').waitFor();
  assert.equal((await stage.server.get(`/projects/${id}/quarantine`)).total, 0, 'looking stores nothing');
  await page.getByRole('button', { name: 'Import again' }).last().click();
  await page.getByText('2 changes of this import wait in the quarantine.').waitFor();

  const inbox = new QuarantinePage(page);
  await inbox.count.getByText('2').waitFor();
  await inbox.count.click();
  await settled(page);
  await becomes(async () => (await inbox.rows.allTextContents()).sort().join(), 'getPet,listPets');
  await page.getByRole('button', { name: 'getPet' }).click();
  await inbox.conflicts.getByText('Gets our pet.').waitFor();
  await inbox.conflicts.getByText('Get one pet').waitFor();
  await becomes(() => inbox.approve.isDisabled(), true, 'conflicts are decided first');
  await page.getByRole('radio', { name: 'Keep what was edited here' }).check();
  await page.getByLabel('Note').fill('ours is clearer');
  await inbox.approve.click();
  await inbox.count.getByText('1').waitFor();
  const { description, enabled } = await tool(id, 'getPet');
  assert.deepEqual({ description, enabled }, { description: 'Gets our pet.', enabled: true });

  await page.getByRole('button', { name: 'listPets' }).click();
  await inbox.reject.click();
  await page.getByRole('button', { name: 'Reject the change' }).click();
  await page.getByRole('heading', { name: 'No changes wait' }).waitFor();
  assert.equal((await tool(id, 'listPets')).definition.parameters.properties?.limit, undefined);
});

stage.story('several changes are approved or rejected together', async (page) => {
  const id = await project('several');
  await stage.server.importDescription(id, 'petstore', petstore(stage.upstream.origin));
  const { definition } = await tool(id, 'getPet');
  await stage.server.post(`/projects/${id}/tools`, { ...definition, description: 'Gets our pet.' });
  const newer = { version: '2', get: 'Get one pet', list: 'List pets', withLimit: true };
  await stage.server.importDescription(id, 'petstore', petstore(stage.upstream.origin, newer), { again: true });

  const inbox = new QuarantinePage(page);
  await inbox.open(id);
  await inbox.box('getPet').check();
  await inbox.box('listPets').check();
  await inbox.selected.getByText('2 changes').waitFor();
  await inbox.selected.getByRole('button', { name: 'Approve those without conflicts' }).click();
  await inbox.dialog.getByText('these go on waiting: getPet.').waitFor();
  await inbox.dialog.getByText('List pets').waitFor();
  assert.equal((await stage.server.get(`/projects/${id}/quarantine`)).total, 2, 'looking stores nothing');
  await inbox.dialog.getByLabel('Note').fill('version 2');
  await inbox.dialog.getByRole('button', { name: 'Approve 1 change' }).click();
  await inbox.count.getByText('1').waitFor();
  assert.equal((await tool(id, 'listPets')).description, 'List pets');
  const revisions = await stage.server.get(`/projects/${id}/tools/listPets/revisions`);
  assert.equal(revisions.items[0].note, 'version 2');

  await inbox.box('getPet').check();
  await inbox.selected.getByRole('button', { name: 'Reject', exact: true }).click();
  await inbox.dialog.getByText('stays as it is').waitFor();
  await inbox.dialog.getByRole('button', { name: 'Reject 1 change' }).click();
  await page.getByRole('heading', { name: 'No changes wait' }).waitFor();
  assert.equal((await tool(id, 'getPet')).description, 'Gets our pet.');
});

stage.story('an address is imported from, and asked again when its description may have changed', async (page) => {
  const id = await project('by-address');
  const { origin, documents } = stage.upstream;
  documents.set('/pets.json', petstore(origin));
  await page.goto(`/ui/projects/${id}/imports/new?from=address`);
  const wizard = new NewImportPage(page);
  await page.getByLabel('Address of the description').fill(`${origin}/pets.json`);
  await wizard.readButton.click();
  await wizard.operations.waitFor();
  await wizard.look.click();
  await wizard.outlook.waitFor();
  await wizard.importButton.click();
  await wizard.imported.waitFor();
  const imported = await stage.server.get(`/projects/${id}/imports/petstore`);
  assert.deepEqual([imported.version, imported.source.url], ['1', `${origin}/pets.json`]);

  documents.set('/pets.json', petstore(origin, { version: '2', get: 'Get one pet' }));
  await page.goto(`/ui/projects/${id}/imports/petstore?tab=again`);
  await page.getByRole('button', { name: 'Look at its address again' }).click();
  await page.getByRole('region', { name: 'What importing would do' }).getByText('getPet').first().waitFor();
  assert.equal((await stage.server.get(`/projects/${id}/imports/petstore`)).version, '1', 'looking stores nothing');
  await page.getByRole('button', { name: 'Import again' }).last().click();
  await page.getByText('1 change of this import waits in the quarantine.').waitFor();
  const inbox = new QuarantinePage(page);
  await inbox.count.getByText('1').waitFor();
  assert.equal((await stage.server.get(`/projects/${id}/imports/petstore`)).version, '2');
});

stage.story('the keyboard is enough', async (page) => {
  const id = await project('by-keyboard');
  await page.goto(`/ui/projects/${id}/imports`);
  await settled(page);
  await press(page, page.getByRole('link', { name: 'New import' }));
  const wizard = new NewImportPage(page);
  await wizard.description.waitFor();
  await tabTo(page, wizard.description);
  await page.keyboard.insertText(petstore(stage.upstream.origin));
  await press(page, wizard.readButton);
  await wizard.operations.waitFor();
  await tabTo(page, wizard.box('GET /pets/{petId}'));
  await page.keyboard.press('Space');
  await wizard.operations.getByText('2 of 4 operations chosen.').waitFor();
  await press(page, wizard.look);
  await wizard.outlook.waitFor();
  await tabTo(page, wizard.importButton, 'Tab');
  await page.keyboard.press('Enter');
  await wizard.imported.waitFor();
  assert.equal((await stage.server.get(`/projects/${id}/imports/petstore`)).counts.operations, 2);
});

stage.story('who may only look is offered nothing else', async () => {
  const id = await project('looked-at');
  await importPetstore(stage.server, id, stage.upstream.origin);
  const person = { username: 'reader', password: 'reads the gate 42' };
  const { principal } = await stage.server.post('/users', person);
  const path = `/projects/${id}/permissions/${encodeURIComponent(principal)}`;
  await stage.server.put(path, { role: 'viewer', groups: [] }, { 'if-none-match': '*' });
  const storageState = await signedIn(stage.browser, stage.server.origin, person);
  await visit(stage.browser, stage.server.origin, { storageState }, async (page) => {
    await page.goto(`/ui/projects/${id}/imports`);
    await page.getByRole('link', { name: 'petstore' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'New import' }).count(), 0);
    await page.goto(`/ui/projects/${id}/imports/new`);
    await page.getByRole('heading', { name: 'Importing takes the role editor' }).waitFor();
    await page.goto(`/ui/projects/${id}/imports/petstore`);
    await page.getByRole('table', { name: 'operations' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Remove', exact: true }).count(), 0);
    await page.goto(`/ui/projects/${id}/quarantine?tool=getPet`);
    await page.getByRole('region', { name: /^Conflicts of / }).waitFor();
    assert.equal(await page.getByRole('radio').count(), 0);
    assert.equal(await new QuarantinePage(page).approve.count(), 0);
    await page.goto(`/ui/projects/${id}/settings`);
    await page.getByText('System administrators change this list.').waitFor();
  });
});
