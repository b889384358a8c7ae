import { after, before, test } from 'node:test';

import { Frame } from '../pages/frame.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { ToolsPage } from '../pages/tools.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { DESKTOP, PHONE, launch, visit } from '../support/browser.mjs';
import { ADMIN, startSeeded } from '../support/server.mjs';

/** The pages of a project. */
const SECTIONS = [
  'overview',
  'upload',
  'groups',
  'states',
  'permissions',
  'keys',
  'simulator',
  'policy-tests',
  'sessions',
  'records',
  'alerts',
  'limits',
  'secrets',
  'settings',
  'connect',
];

/** Waits until nothing is on its way. */
async function settled(page) {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => !document.querySelector('.skeleton'));
}

let server;
let browser;
before(async () => {
  server = await startSeeded();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [PHONE, DESKTOP]) {
    const look = `${colorScheme}, ${viewport.width} pixels`;
    test(`every page is accessible: ${look}`, () =>
      visit(
        browser,
        server.origin,
        { colorScheme, viewport, refusals: ['/auth/login', '/projects/absent/tools'] },
        async (page) => {
          const check = (what) => assertAccessible(page, `${what}, ${look}`);
          const form = new SignInPage(page);
          const tools = new ToolsPage(page);
          const frame = new Frame(page);

          await form.open('?next=/ui/projects&reason=ended');
          await check('sign-in');
          await form.signIn({ ...ADMIN, password: 'wrong' });
          await form.refusal.waitFor();
          await check('sign-in refused');
          await form.signIn(ADMIN);

          await page.getByRole('link', { name: /Demonstration/ }).first().waitFor();
          await check('projects');
          await frame.projects.click();
          await check('project menu');
          await page.keyboard.press('Escape');
          await frame.account.click();
          await check('account menu');

          await tools.open('demo');
          await tools.rows.first().waitFor();
          await check('tools');
          for (const section of SECTIONS) {
            await page.goto(`/ui/projects/demo/${section}`);
            await page.getByRole('heading', { level: 1 }).waitFor();
            await settled(page);
            await check(section);
          }
          for (const tab of ['', '?tab=definition', '?tab=revisions']) {
            await page.goto(`/ui/projects/demo/tools/read-page${tab}`);
            await page.getByRole('heading', { name: 'read-page', level: 1 }).waitFor();
            await settled(page);
            await check(`tool${tab}`);
          }
          await page.keyboard.press('Control+k');
          await page.getByRole('combobox').waitFor();
          await check('palette');
          await page.keyboard.press('Escape');
          for (const path of ['/ui/users', '/ui/health']) {
            await page.goto(path);
            await page.getByRole('heading', { level: 1 }).waitFor();
            await settled(page);
            await check(path);
          }
          await tools.open('demo', '?q=zebra');
          await tools.noMatch.waitFor();
          await check('no match');
          await tools.open('blank');
          await tools.empty.waitFor();
          await check('no tools');
          await tools.open('absent');
          await tools.problem.waitFor();
          await check('problem');
          await page.goto('/ui/nowhere');
          await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
          await check('no such page');
        },
      ));
  }
}
