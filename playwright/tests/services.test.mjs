// The pages of tool services and workers: what is defined is listed with its tools, also where there is no message bus; services are
// defined by a form, and keys open subjects of the bus.
import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { SERVICE } from '../support/pages.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

stage.story('services and workers are listed, and say why nothing calls them', async (page) => {
  const worker = `{name: find-title, type: worker, description: Finds., target_subject: cmd.tool.search, after_execution: suspend,
    parameters: {type: object, properties: {}}}`;
  await stage.server.uploadTools('demo', worker);
  await page.goto('/ui/projects/demo/services');
  await settled(page);
  await page.getByText('This server is connected to no message bus.').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'find-title' });
  await row.getByText('no heartbeats').waitFor();
  await row.getByRole('link', { name: 'search' }).click();
  await page.getByRole('heading', { name: 'search', level: 1 }).waitFor();
  await page.getByText('It announced nothing: its tools were uploaded.').waitFor();
  await page.getByText(/^not known:/).waitFor();
  await page.getByRole('link', { name: 'find-title' }).click();
  await page.getByRole('heading', { name: 'find-title', level: 1 }).waitFor();

  await page.goto(`/ui/projects/demo/services/${SERVICE}`);
  await settled(page);
  await page.getByText('No tool of this project is executed by it.').waitFor();
});

const WEATHER = '/projects/demo/tool-services/weather';
const stored = async () => (await stage.server.ask('GET', WEATHER)).body;

stage.story('a tool service is defined by a form', { refusals: ['*'] }, async (page) => {
  await page.goto('/ui/projects/demo/services');
  await settled(page);
  await page.getByRole('link', { name: 'New service' }).click();
  await page.getByRole('heading', { name: 'New tool service', level: 1 }).waitFor();
  await page.getByLabel('Id', { exact: true }).fill('weather');
  await page.getByLabel('Request queue').fill('non-persistent://tg/demo/weather');
  await page.getByLabel('Response queue').fill('tg.demo.weather');
  await page.getByRole('button', { name: 'Add a parameter' }).click();
  await page.getByLabel('Name of parameter 1').fill('group');
  const create = page.getByRole('button', { name: 'Create the service' });
  await create.click();
  // Every fault at once; that of a parameter at the parameters.
  await page.getByText('requests and responses share one queue').first().waitFor();
  await page.getByRole('group', { name: 'Parameters' }).getByText(/is a key of every tool/).waitFor();

  await page.getByLabel('Response queue').fill('tg.demo.weather-answers');
  await page.getByLabel('Name of parameter 1').fill('region');
  await page.getByLabel('Required: parameter 1').check();
  await page.getByRole('button', { name: 'Add a parameter' }).click();
  await page.getByLabel('Name of parameter 2').fill('style');
  await page.getByLabel('Calls at once').fill('4');
  await page.getByLabel('Values for all its tools').fill('api_key=secret:WEATHER_KEY');
  await create.click();
  await page.getByRole('heading', { name: 'weather', level: 1 }).waitFor();
  const { revision, ...service } = await stored();
  assert.equal(revision, 1);
  assert.deepEqual(service, {
    id: 'weather',
    'request-queue': 'non-persistent://tg/demo/weather',
    'response-queue': 'tg.demo.weather-answers',
    'config-params': [{ name: 'region', required: true }, { name: 'style', required: false }],
    'max-concurrent': 4,
    envs: { api_key: 'secret:WEATHER_KEY' },
    tools: [],
  });

  // A service that is there is not replaced by the form of a new one.
  await page.goto('/ui/projects/demo/new-service');
  await page.getByLabel('Id', { exact: true }).fill('weather');
  await page.getByRole('button', { name: 'Create the service' }).click();
  await page.getByText(/There is a service of this id/).waitFor();
  assert.equal((await stored()).revision, 1);
});

stage.story('a tool service is changed, unless it was changed meanwhile, and deleted when nothing uses it', { refusals: ['*'] }, async (page) => {
  await page.goto('/ui/projects/demo/services/weather');
  await settled(page);
  await page.getByRole('link', { name: 'Definition' }).click();
  await page.getByRole('link', { name: 'Processes and queue' }).waitFor();
  const concurrent = page.getByLabel('Calls at once');
  assert.equal(await concurrent.inputValue(), '4');
  await page.getByRole('button', { name: 'Remove parameter 1' }).click();
  assert.equal(await page.getByLabel('Name of parameter 1').inputValue(), 'style');
  await concurrent.fill('6');
  const save = page.getByRole('button', { name: 'Save' });
  await save.click();
  await page.getByText('weather is stored. It counts for the next call.').waitFor();
  const changed = await stored();
  assert.deepEqual([changed['max-concurrent'], changed['config-params']], [6, [{ name: 'style', required: false }]]);
  // What was just saved is what the next save begins from.
  await concurrent.fill('7');
  await save.click();
  await becomes(async () => (await stored())['max-concurrent'], 7);

  const { id, revision, tools, ...definition } = await stored();
  await stage.server.ask('PUT', WEATHER, { body: { ...definition, 'max-concurrent': 9 }, headers: { 'if-match': `"${revision}"` } });
  await concurrent.fill('8');
  await save.click();
  await page.getByText(/This has changed since you read it/).waitFor();
  assert.equal((await stored())['max-concurrent'], 9);
  await page.getByRole('button', { name: 'Show what is stored now' }).click();
  await becomes(() => concurrent.inputValue(), '9');

  const tool = '{name: tell-weather, type: tool-service, description: Tells., service: weather, arguments: []}';
  await stage.server.uploadTools('demo', tool);
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete weather?' });
  const confirm = question.getByRole('button', { name: 'Delete the service' });
  await confirm.click();
  await question.getByText(/the tool "tell-weather" uses it/).waitFor();
  await stage.server.ask('DELETE', '/projects/demo/tools/tell-weather', { headers: { 'if-match': '*' } });
  await confirm.click();
  await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
  await page.getByText('weather was deleted.').waitFor();
  assert.equal((await stage.server.ask('GET', WEATHER)).status, 404);
});

stage.story('a key opens subjects of the message bus', async (page) => {
  await page.goto('/ui/projects/demo/keys?new=1');
  await settled(page);
  const dialog = page.getByRole('dialog', { name: 'New key' });
  await dialog.getByLabel('Name').fill('search worker');
  await dialog.getByText('On the message bus').click();
  await dialog.getByLabel('Serve tool services of the project').check();
  await dialog.getByLabel('Targets of workers').fill('search, title');
  await dialog.getByRole('button', { name: 'Create the key' }).click();
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  const row = page.getByRole('row').filter({ hasText: 'search worker' });
  await row.getByText('on the bus: tool services; workers search, title').waitFor();
  const { items } = await stage.server.get('/projects/demo/keys?q=search%20worker');
  assert.deepEqual(items[0].bus, { calls: false, services: true, workers: ['search', 'title'] });
});
