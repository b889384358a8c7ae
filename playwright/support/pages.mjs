// Every page of the dashboard, once: whatever holds for all of them is tested by going through this list.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { petstore } from './descriptions.mjs';
import { SERVER } from './mcp-upstream.mjs';
import { writeInto } from '../pages/editor.mjs';

/** Where everything has something to show. */
const LIVELY = { project: 'demo', tool: 'look-up' };
/** The import that is in every project with imports, and its tool whose change waits. */
export const IMPORTED = { id: 'petstore', tool: 'getPet' };
/** The tool service of the lively project. */
export const SERVICE = 'joke-service';
/** Where nothing is. */
const BLANK = { project: 'blank' };

/**
 * What tests must know of a page beside its path: `views` are further addresses of it, each with what differs there.
 * `reads` tells whether it asks the server for anything, `waits` whether it is of no use before the answer, `hasEmpty`
 * whether it can be empty, `query` what its address ends with, `subject` what it is about.
 */
const NOTES = {
  upload: { reads: false, views: { project: { query: '?view=project', reads: false, hasEmpty: false } } },
  'new-tool': { reads: false },
  'access-requests': { views: { ask: { query: '?groups=writing', hasEmpty: false } } },
  authorize: { reads: false },
  'accounts/callback': { reads: false },
  'imports/new': { name: 'import-new', reads: false },
  'imports/{subject}': { name: 'import', subject: () => IMPORTED.id, hasEmpty: false, views: { again: { query: '?tab=again' } } },
  'mcp-servers': {
    views: {
      add: { query: '?add=1', reads: false, hasEmpty: false },
      form: { query: '?add=1&by=form', reads: false, hasEmpty: false },
    },
  },
  'mcp-servers/{subject}': {
    name: 'mcp-server',
    subject: () => SERVER,
    hasEmpty: false,
    views: Object.fromEntries(['import', 'definition'].map((tab) => [tab, { query: `?tab=${tab}` }])),
  },
  'new-service': { reads: false, hasEmpty: false },
  'services/{subject}/definition': { name: 'service-definition', subject: () => SERVICE, hasEmpty: false },
  'services/{subject}': { name: 'service', subject: () => SERVICE, hasEmpty: false },
  quarantine: { views: { one: { query: `?tool=${IMPORTED.tool}`, hasEmpty: false } } },
  'tools/{subject}': {
    name: 'tool',
    subject: ({ tool }) => tool,
    hasEmpty: false,
    views: Object.fromEntries(['definition', 'uses', 'revisions', 'clone'].map((tab) => [tab, { query: `?tab=${tab}` }])),
  },
  groups: { views: { matrix: { query: '?view=matrix' } } },
  permissions: {
    views: {
      tool: { query: '?view=tool&tool=look-up', hasEmpty: false },
      person: { query: '?view=person', waits: false },
      unused: { query: '?view=unused', hasEmpty: false },
    },
  },
  simulator: { query: '?group=*' },
};

/** The pages that the dashboard was packaged with, as the server reads them too. */
function packaged() {
  const folder = process.env.TOOLGATE_UI_DIR ?? resolve(import.meta.dirname, '../../target/ui');
  const read = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  return read(read('manifest.json')['pages.json']);
}

/** The page at a path of the manifest, and its further views. */
function viewsOf({ path }) {
  const place = path.replace(/^\/ui\/(projects\/\{project\}\/)?/, '');
  const isOfProject = path.includes('{project}');
  const { views = {}, ...notes } = NOTES[place] ?? {};
  const view = ({ name = place, query = '', subject = () => '', reads = true, waits = reads, hasEmpty = isOfProject }) => ({
    name,
    path: (about) => path.replace('{project}', about.project).replace('{subject}', subject(about)) + query,
    reads,
    waits,
    hasEmpty: hasEmpty && !place.includes('/'),
  });
  const first = view(notes);
  const others = Object.entries(views).map(([name, known]) => view({ ...notes, ...known, name: `${first.name}-${name}` }));
  return [first, ...others];
}

/** All pages of a signed-in system administrator, but the start, which leads to another one. */
export const PAGES = packaged()
  .filter(({ path }) => path !== '/ui/')
  .flatMap(viewsOf);

/** The address of a page with everything in it. */
export const lively = (page) => page.path(LIVELY);

/** The address of a page with nothing in it. */
export const blank = (page) => page.path(BLANK);

/** What opens over a page: where, and how one opens it. */
export const OPENED = [
  {
    name: 'palette',
    at: 'tools',
    open: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /^Search for/ }).waitFor();
    },
  },
  {
    name: 'keyboard help',
    at: 'tools',
    open: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    },
  },
  {
    name: 'menu of projects',
    at: 'overview',
    open: (page) => page.getByRole('button', { name: /switch project$/ }).click(),
  },
  {
    name: 'menu of the account',
    at: 'overview',
    open: (page) => page.getByRole('button', { name: /account$/ }).click(),
  },
  {
    name: 'range of time',
    at: 'usage',
    open: async (page) => {
      await page.getByRole('button', { name: /range of time$/ }).click();
      await page.getByLabel('From (', { exact: false }).waitFor();
    },
  },
  {
    name: 'views of the record',
    at: 'records',
    open: (page) => page.getByRole('button', { name: 'Views of the record' }).click(),
  },
  {
    name: 'columns of the record',
    at: 'records',
    open: (page) => page.getByRole('button', { name: 'Columns of the list' }).click(),
  },
  {
    name: 'one record',
    at: 'records',
    open: async (page) => {
      await page.locator('[data-row]').first().click();
      await page.getByRole('dialog', { name: 'Record' }).getByText('Outcome').waitFor();
    },
  },
  {
    name: 'one session',
    at: 'sessions',
    open: async (page) => {
      await page.locator('[data-row]').first().click();
      await page.getByRole('dialog', { name: 'Session' }).getByText('What happened').waitFor();
    },
  },
  {
    name: 'one grant',
    at: 'permissions',
    open: async (page) => {
      await page.getByRole('button', { name: 'reading agent' }).click();
      await page.getByRole('dialog').getByLabel('Groups').waitFor();
    },
  },
  {
    name: 'new key',
    at: 'keys',
    open: (page) => page.getByRole('button', { name: 'New key' }).click(),
  },
  {
    name: 'new secret',
    at: 'secrets',
    open: (page) => page.getByRole('button', { name: 'New secret' }).click(),
  },
  {
    name: 'new user',
    at: 'users',
    open: (page) => page.getByRole('button', { name: 'New user' }).click(),
  },
  {
    name: 'add a member',
    at: 'permissions',
    open: (page) => page.getByRole('button', { name: 'Add a member' }).click(),
  },
  {
    name: 'a description that was read',
    at: 'import-new',
    open: async (page) => {
      await writeInto(page.getByRole('textbox', { name: 'Description', exact: true }), petstore('https://petstore.example', { version: '3' }));
      await page.getByRole('button', { name: 'Read it' }).click();
      await page.getByRole('heading', { name: '2. The operations' }).waitFor();
    },
  },
  {
    name: 'arguments of an operation',
    at: 'import-new',
    open: async (page) => {
      await writeInto(page.getByRole('textbox', { name: 'Description', exact: true }), petstore('https://petstore.example', { version: '3' }));
      await page.getByRole('button', { name: 'Read it' }).click();
      await page.getByRole('button', { name: 'Arguments of getPet' }).click();
      await page.getByRole('dialog').getByLabel('petId').first().waitFor();
    },
  },
  {
    name: 'deleting an MCP server',
    at: 'mcp-servers',
    open: async (page) => {
      await page.getByRole('button', { name: `Delete ${SERVER}` }).click();
      await page.getByRole('dialog').getByText('The project has no tools of it.').waitFor();
    },
  },
  {
    name: 'removing an import',
    at: 'import',
    open: (page) => page.getByRole('button', { name: 'Remove', exact: true }).click(),
  },
  {
    name: 'rejecting a change',
    at: 'quarantine-one',
    open: (page) => page.getByRole('button', { name: 'Reject', exact: true }).click(),
  },
  {
    name: 'deciding several changes',
    at: 'quarantine',
    open: async (page) => {
      await page.getByRole('checkbox', { name: `Select ${IMPORTED.tool}` }).check();
      await page.getByRole('button', { name: 'Approve, keep ours in conflicts' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve 1 change' }).waitFor();
    },
  },
  {
    name: 'change of the password',
    at: 'overview',
    open: async (page) => {
      await page.getByRole('button', { name: /account$/ }).click();
      await page.getByRole('button', { name: 'Change your password' }).click();
      await page.getByLabel('Present password').waitFor();
    },
  },
  {
    name: 'disabling a user',
    at: 'users',
    open: (page) => page.getByRole('button', { name: /^Disable/ }).first().click(),
  },
  {
    name: 'deleting a group',
    at: 'groups',
    open: async (page) => {
      await page.getByRole('button', { name: 'writing', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('dialog', { name: 'Delete writing?' }).getByText('Touches').waitFor();
    },
  },
  {
    name: 'disabling a tool',
    at: 'tool',
    open: async (page) => {
      await page.getByRole('button', { name: 'Disable', exact: true }).click();
      await page.getByText('1 tool would change.').waitFor();
    },
  },
  {
    name: 'deleting a tool',
    at: 'tool',
    open: (page) => page.getByRole('button', { name: 'Delete', exact: true }).click(),
  },
];

/** A page by its name. */
export const pageNamed = (name) => PAGES.find((page) => page.name === name);
