// What each role sees: an overview that is true for it, pages that it may read, and no control that the server would refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { settled, visit } from '../support/browser.mjs';
import { PAGES, lively } from '../support/pages.mjs';
import { signedInMember } from '../support/people.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

const NO_ACCESS = 'You have no access to this page';
/** What a role may not read. */
const CLOSED = {
  agent: ['users', 'health', 'server-alerts', 'server-record', 'upload', 'upload-project', 'new-tool', 'new-service', 'imports', 'import-new', 'import', 'import-again', 'quarantine', 'quarantine-one',
    'mcp-servers', 'mcp-servers-add', 'mcp-servers-form', 'mcp-server', 'mcp-server-import', 'mcp-server-definition', 'services', 'service', 'service-definition', 'dead-letters', 'states',
    'permissions', 'permissions-tool', 'permissions-person', 'permissions-unused', 'keys', 'policy-tests', 'records', 'usage', 'alerts', 'limits', 'secrets', 'settings', 'account-providers'],
  viewer: ['users', 'health', 'server-alerts', 'server-record', 'upload', 'upload-project', 'new-tool', 'new-service', 'permissions', 'permissions-tool', 'permissions-person', 'permissions-unused', 'keys', 'records', 'alerts', 'secrets'],
  auditor: ['users', 'health', 'server-alerts', 'server-record', 'upload', 'upload-project', 'new-tool', 'new-service', 'keys', 'secrets'],
};

/** Runs in a window of a user with a role. `assertNothingRefused` fails with what the server has refused since the last time. */
async function inRole(role, run) {
  const { storageState } = await someone(role);
  await visit(stage.browser, stage.server.origin, { storageState, refusals: ['*'] }, async (page) => {
    const refused = [];
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if ([401, 403, 404].includes(response.status())) refused.push(`${response.request().method()} ${pathname}`);
    });
    const assertNothingRefused = async (what) => {
      await settled(page);
      assert.deepEqual(refused.splice(0), [], what);
    };
    await run(page, assertNothingRefused);
  });
}

const credentials = ({ username, password }) => ({ username, password });
/** One user of each role. */
const people = new Map();
async function someone(role) {
  if (!people.has(role)) people.set(role, await signedInMember(stage, `the-${role}`, role));
  return people.get(role);
}

/** Buttons that do the same on every page: they lead to what has a page in the list, sort, or export what is shown. */
const ANYWHERE = ['tab', 'sorter', 'fault-place'];

/** The place and the name of one of each kind of button: those of other rows do the same. Those of `pressed` are left out. */
async function different(buttons, pressed) {
  const found = await buttons.evaluateAll(
    (all, anywhere) =>
      all.map((button) => {
        const text = button.textContent.trim() || button.innerHTML;
        const general = [...button.classList].find((name) => anywhere.includes(name)) ?? (text === 'CSV' && text);
        return {
          name: button.getAttribute('aria-label') ?? button.textContent.trim(),
          kind: general || [button.className, text, button.closest('td, th')?.cellIndex, button.closest('table') !== null].join(),
          general,
        };
      }),
    ANYWHERE,
  );
  const first = new Map();
  for (const [at, { name, kind, general }] of found.entries()) {
    if (first.has(kind) || pressed.has(kind)) continue;
    first.set(kind, [at, name]);
    if (general) pressed.add(kind);
  }
  return [...first.values()];
}

const hasNoAccess = async (page) => (await page.getByRole('heading', { name: NO_ACCESS }).count()) > 0;

for (const role of Object.keys(CLOSED)) {
  test(`no page offers the role ${role} what the server would refuse`, () =>
    inRole(role, async (page, assertNothingRefused) => {
      const closed = [];
      const [followed, pressed, leads] = [new Set(), new Set(), []];
      for (const it of PAGES) {
        await page.goto(lively(it));
        await assertNothingRefused(it.name);
        if (await hasNoAccess(page)) {
          closed.push(it.name);
          continue;
        }
        const links = await page.locator('main a[href^="/ui/"]').evaluateAll((all) => [...new Set(all.map((link) => link.getAttribute('href')))]);
        const buttons = page.locator('main button:visible:enabled');
        for (const [at, name] of await different(buttons, pressed)) {
          // Something may lie over it by now; what cannot be pressed offers nothing.
          await buttons.nth(at).click({ timeout: 2_000 }).catch(() => {});
          await assertNothingRefused(`${it.name}: ${name}`);
          await page.goto(lively(it));
          await settled(page);
        }
        for (const href of links) {
          if (followed.has(href)) continue;
          followed.add(href);
          const listed = PAGES.find((one) => lively(one) === href);
          if (listed) {
            leads.push({ from: it.name, to: listed.name });
            continue;
          }
          await page.goto(href);
          await assertNothingRefused(`${it.name}: link to ${href}`);
          assert.ok(!(await hasNoAccess(page)), `${it.name} leads to ${href}`);
        }
      }
      assert.deepEqual(closed.sort(), CLOSED[role].toSorted());
      assert.deepEqual(leads.filter(({ to }) => closed.includes(to)), [], 'links to pages without access');
    }));

  test(`the overview is true for the role ${role}`, () =>
    inRole(role, async (page, assertNothingRefused) => {
      await page.goto('/ui/projects/demo/overview');
      await settled(page);
      await assertNothingRefused('the overview');
      const main = page.getByRole('main');
      if (role === 'agent') {
        assert.equal(await main.getByText('Nothing has been called yet').count(), 0, 'there were calls');
        await main.getByText('knowledge', { exact: true }).waitFor();
        const { access_token: token } = await stage.server.post('/auth/login', credentials(people.get(role).person));
        const { total } = (await stage.server.ask('GET', '/projects/demo/tools', { token })).body;
        await main.getByText(`${total} tools`, { exact: true }).waitFor();
        return;
      }
      const { totals } = await stage.server.get('/projects/demo/usage?hours=24');
      await main.getByText(`${totals.denials}refused`).waitFor();
      const { items } = await stage.server.get('/projects/demo/alerts?acknowledged=false');
      assert.equal(await main.getByRole('heading', { name: 'To look at' }).count(), role === 'auditor' && items.length > 0 ? 1 : 0);
    }));
}
