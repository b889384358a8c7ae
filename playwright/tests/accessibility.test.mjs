import { after, before, test } from 'node:test';

import { Frame } from '../pages/frame.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { ToolsPage } from '../pages/tools.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { DESKTOP, PHONE, launch, visit } from '../support/browser.mjs';
import { ADMIN, startSeeded } from '../support/server.mjs';

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
