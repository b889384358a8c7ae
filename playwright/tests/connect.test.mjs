// The snippets of the page Connect run as they are pasted: with a tool and a key that exist.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { settled, visit } from '../support/browser.mjs';
import { signedInMember } from '../support/people.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

const run = promisify(execFile);
const ENV = { PATH: process.env.PATH, HOME: tmpdir() };

const snippet = (page, caption) => page.getByRole('region', { name: caption, exact: true }).textContent();

/** Pastes commands into a shell, as a user who answers its questions. */
async function pasted(commands, answers) {
  const shell = run('bash', ['-c', commands], { env: ENV });
  shell.child.stdin.end(answers.map((line) => `${line}\n`).join(''));
  return (await shell).stdout;
}

/** Runs a program from a file, with the key where the snippet says. */
async function program(command, name, text, key, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'toolgate-snippet-'));
  try {
    await writeFile(join(folder, name), text);
    return (await run(command, [join(folder, name)], { env: { ...ENV, ...env, TOOLGATE_KEY: key } })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs every snippet of the page. */
async function pasteAll(page, { first, answers, key }) {
  const before = await snippet(page, first);
  const list = JSON.parse(await pasted(`${before}\n${await snippet(page, 'Bash: list')}`, answers));
  assert.ok(list.items.some(({ name }) => name === 'look-up'), 'the tool is listed');
  const call = JSON.parse(await pasted(`${before}\n${await snippet(page, 'Bash: call')}`, answers));
  assert.equal(call.status, 'succeeded', JSON.stringify(call));
  const python = await program('python3', 'call.py', await snippet(page, 'Python'), key);
  assert.match(python, /'status': 'succeeded'/);
  const typescript = await program(process.execPath, 'call.mjs', await snippet(page, 'TypeScript'), key);
  assert.match(typescript, /status: 'succeeded'/);
}

stage.story('the snippets run with a key that is made on the page', async (page) => {
  await page.goto('/ui/projects/demo/connect');
  await settled(page);
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog', { name: 'New key' });
  await dialog.getByLabel('Name').fill('pasting agent');
  await dialog.getByLabel('Groups').fill('knowledge');
  await dialog.getByRole('button', { name: 'Create the key' }).click();
  const key = await dialog.getByRole('region', { name: 'Key' }).textContent();
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await becomes(
    () => page.getByLabel('Key', { exact: true }).evaluate((select) => select.selectedOptions[0].textContent.split(' (')[0]),
    'pasting agent',
    'the new key is the one of the snippets',
  );
  await page.getByLabel('Tool', { exact: true }).selectOption('look-up');
  await page.waitForURL('**tool=look-up**');
  await settled(page);
  assert.ok((await snippet(page, 'Bash: call')).includes('"look-up"'));
  await pasteAll(page, { first: 'Bash: key', answers: [key], key });
  assert.ok(!(await page.content()).includes(key), 'the key is shown once');
});

test('the snippets run for a user who may make no key, by signing in', async () => {
  const { person, storageState } = await signedInMember(stage, 'paster', 'viewer');
  await visit(stage.browser, stage.server.origin, { storageState }, async (page) => {
    await page.goto('/ui/projects/demo/connect?tool=look-up');
    await settled(page);
    const { access_token: key } = await stage.server.post('/auth/login', { username: person.username, password: person.password });
    await pasteAll(page, { first: 'Bash: sign in', answers: [person.password], key });
  });
});

stage.story('where sessions are required, the snippets begin one and call in it', async (page) => {
  const { server, upstream } = stage;
  await server.createProject('strict', 'Strict');
  await server.uploadTools(
    'strict',
    `name: look-up\ntype: openapi\ndescription: Looks a word up.\ngroup: [knowledge]\nstate: found\nparameters: {type: object, properties: {id: {type: string}}}\noptions: {http: {base_url: "${upstream.origin}", path: /summary, query: {id: id}}}\n`,
  );
  const settings = await server.get('/projects/strict/settings');
  await server.put('/projects/strict/settings', { ...settings, sessions: 'required' });
  const { secret: key } = await server.createKey('strict', 'strict agent', ['knowledge']);
  await page.goto('/ui/projects/strict/connect');
  await settled(page);
  const begin = `${await snippet(page, 'Bash: key')}\n${await snippet(page, 'Bash: session')}`;
  const call = JSON.parse(await pasted(`${begin}\n${await snippet(page, 'Bash: call')}`, [key]));
  assert.equal(call.status, 'succeeded', JSON.stringify(call));
  assert.equal(call.session.state, 'found');
  const session = (await pasted(`${begin}\necho $TOOLGATE_SESSION`, [key])).trim();
  const env = { TOOLGATE_SESSION: session };
  assert.match(await program('python3', 'call.py', await snippet(page, 'Python'), key, env), /'status': 'succeeded'/);
  assert.match(await program(process.execPath, 'call.mjs', await snippet(page, 'TypeScript'), key, env), /status: 'succeeded'/);
});

stage.story('a tool and a key that exist are chosen, and none is made up', async (page) => {
  await page.goto('/ui/projects/demo/connect');
  await settled(page);
  const body = /--json '(.*)'$/s.exec(await snippet(page, 'Bash: call'))[1];
  const { tool, group } = JSON.parse(body);
  const found = await stage.server.get(`/projects/demo/tools/${tool}`);
  assert.ok(found.enabled && found.group.includes(group[0]));
  const prefix = /begins with (\S+):/.exec(await snippet(page, 'Bash: key'))[1];
  const { items } = await stage.server.get('/projects/demo/keys');
  assert.ok(items.some((key) => key.prefix === prefix));

  await page.goto('/ui/projects/blank/connect');
  await page.getByRole('heading', { name: 'There is no tool to call yet' }).waitFor();
  await page.getByText('This project has no key that works yet.').waitFor();
});

stage.story('every tool can be chosen, however many there are', async (page) => {
  const { server, upstream } = stage;
  const names = Array.from({ length: 120 }, (_, at) => `tool-${String(at).padStart(3, '0')}`);
  const definition = (name) =>
    `name: ${name}\ntype: openapi\ndescription: One of many.\noptions: {http: {base_url: "${upstream.origin}", path: /summary}}\n`;
  await server.createProject('crowded', 'Crowded');
  await server.uploadTools('crowded', names.map(definition).join('---\n'));
  const called = async () => JSON.parse(/--json '(.*)'$/s.exec(await snippet(page, 'Bash: call'))[1]).tool;
  const options = () => page.getByLabel('Tool', { exact: true }).locator('option').count();

  await page.goto('/ui/projects/crowded/connect');
  await page.getByText('100 of 120 tools').waitFor();
  await page.getByRole('button', { name: 'List more tools' }).click();
  await becomes(options, 120, 'the others are listed too');

  await page.getByRole('searchbox', { name: 'Search tools' }).fill('tool-117');
  await becomes(called, 'tool-117', 'a tool of a later page is found');
  await page.getByRole('searchbox', { name: 'Search tools' }).fill('no such tool');
  await page.getByText('No tool matches the search.').waitFor();

  await page.goto('/ui/projects/crowded/connect?tool=tool-118');
  await becomes(called, 'tool-118', 'a link may name a tool of a later page');
});
