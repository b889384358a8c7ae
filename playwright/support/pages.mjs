// Every page of the dashboard, once: whatever holds for all of them is tested by going through this list.
import { petstore } from './descriptions.mjs';

/** Where everything has something to show. */
const LIVELY = { project: 'demo', tool: 'look-up' };
/** The import that is in every project with imports, and its tool whose change waits. */
export const IMPORTED = { id: 'petstore', tool: 'getPet' };
/** Where nothing is. */
const BLANK = { project: 'blank' };

/**
 * A page that every project has. `reads` tells whether it asks the server for anything, `waits` whether it is of no use
 * before the answer, `hasEmpty` whether it can be empty.
 */
const inProject = (name, { view = '', query = view && `?view=${view}`, reads = true, waits = reads, hasEmpty = true } = {}) => ({
  name: view === '' ? name : `${name}-${view}`,
  path: ({ project }) => `/ui/projects/${project}/${name}${query}`,
  reads,
  waits,
  hasEmpty,
});

/** A page that is the same for all projects. */
const ofServer = (name) => ({ name, path: () => `/ui/${name}`, reads: true, waits: true, hasEmpty: false });

/** A view of a tool. */
const ofTool = (view) => ({
  name: view === '' ? 'tool' : `tool-${view}`,
  path: ({ project, tool }) => `/ui/projects/${project}/tools/${tool}${view === '' ? '' : `?tab=${view}`}`,
  reads: true,
  waits: true,
  hasEmpty: false,
});

/** A page of the imports. */
const ofImport = (name, view, known = {}) => ({
  name,
  path: ({ project }) => `/ui/projects/${project}/${view}`,
  reads: true,
  waits: true,
  hasEmpty: false,
  ...known,
});

/** All pages of a signed-in system administrator. */
export const PAGES = [
  ofServer('projects'),
  ofServer('users'),
  ofServer('health'),
  inProject('overview'),
  inProject('tools'),
  ofTool(''),
  ofTool('definition'),
  ofTool('uses'),
  ofTool('revisions'),
  ofTool('clone'),
  inProject('upload', { reads: false }),
  inProject('imports'),
  ofImport('import-new', 'imports/new', { reads: false, waits: false }),
  ofImport('import', `imports/${IMPORTED.id}`),
  ofImport('import-again', `imports/${IMPORTED.id}?tab=again`),
  inProject('quarantine'),
  ofImport('quarantine-one', `quarantine?tool=${IMPORTED.tool}`),
  inProject('groups'),
  inProject('groups', { view: 'matrix' }),
  inProject('states'),
  inProject('permissions'),
  inProject('permissions', { view: 'tool', query: '?view=tool&tool=look-up', hasEmpty: false }),
  inProject('permissions', { view: 'person', waits: false }),
  inProject('keys'),
  inProject('simulator', { query: '?group=*' }),
  inProject('policy-tests'),
  inProject('sessions'),
  inProject('records'),
  inProject('alerts'),
  inProject('limits'),
  inProject('secrets'),
  inProject('settings'),
  inProject('connect'),
];

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
      await page.getByRole('textbox', { name: 'Description', exact: true }).fill(petstore('https://petstore.example', { version: '3' }));
      await page.getByRole('button', { name: 'Read it' }).click();
      await page.getByRole('heading', { name: '2. The operations' }).waitFor();
    },
  },
  {
    name: 'arguments of an operation',
    at: 'import-new',
    open: async (page) => {
      await page.getByRole('textbox', { name: 'Description', exact: true }).fill(petstore('https://petstore.example', { version: '3' }));
      await page.getByRole('button', { name: 'Read it' }).click();
      await page.getByRole('button', { name: 'Arguments of getPet' }).click();
      await page.getByRole('dialog').getByLabel('petId').first().waitFor();
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
