// Every page of the dashboard, once: whatever holds for all of them is tested by going through this list.

/** Where everything has something to show. */
const LIVELY = { project: 'demo', tool: 'look-up' };
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
  inProject('connect', { reads: false }),
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
      await page.getByRole('dialog', { name: 'Session' }).getByText('Way through the states').waitFor();
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
    name: 'deleting a tool',
    at: 'tool',
    open: (page) => page.getByRole('button', { name: 'Delete', exact: true }).click(),
  },
];

/** A page by its name. */
export const pageNamed = (name) => PAGES.find((page) => page.name === name);
