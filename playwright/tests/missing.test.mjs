// What every page shows while answers are missing: it tells that it waits, and of failures with a way to mend them, without
// breaking a rule of accessibility in any look.
import assert from 'node:assert/strict';

import { holdAll, refuseAll } from '../support/answers.mjs';
import { settled } from '../support/browser.mjs';
import { assertGoodInEveryLook } from '../support/looks.mjs';
import { PAGES, lively } from '../support/pages.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const story = setStage().inOneWindow({ refusals: ['*'] });

for (const it of PAGES) {
  if (it.waits) {
    story(`${it.name} while it waits`, async (page) => {
      const release = await holdAll(page);
      await page.goto(lively(it));
      await page.getByRole('heading', { level: 1 }).waitFor();
      assert.notEqual(await page.locator('.skeleton').count(), 0, 'it tells that it is waiting');
      await assertGoodInEveryLook(page, it.name);
      await release();
      await settled(page);
    });
  }

  if (it.reads) {
    story(`${it.name} when the server fails, and again`, async (page) => {
      const mend = await refuseAll(page);
      await page.goto(lively(it));
      const shown = page.getByRole('alert').filter({ hasText: refuseAll.requestId });
      await shown.first().waitFor();
      await settled(page);
      await assertGoodInEveryLook(page, it.name);
      await mend();
      const retry = page.getByRole('button', { name: 'Try again' });
      for (let left = await retry.count(); left > 0; left -= 1) {
        await retry.first().click();
        await settled(page);
      }
      await becomes(() => shown.count(), 0, 'nothing is left of the failure');
    });
  }
}
