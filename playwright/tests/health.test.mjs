import assert from 'node:assert/strict';

import { assertAccessible } from '../support/axe.mjs';
import { setStage } from '../support/stage.mjs';
import { until } from '../support/wait.mjs';

const stage = setStage();

/** A probe comes every five seconds, give or take a tenth. */
const TWO_PROBES_MS = 12_000;

stage.story('an upstream that is well, fails, and is well again is seen', async (page) => {
  const { server, upstream } = stage;
  await server.uploadTools(
    'blank',
    `name: steady\ntype: openapi\ndescription: Is watched.\noptions: {http: {base_url: "${upstream.origin}", path: /words, probe: {path: /well, interval_s: 5}}}\n`,
  );
  const check = async () => (await server.get('/status')).checks.find(({ id }) => id === 'probe:blank:steady');
  const row = page.getByRole('listitem').filter({ hasText: 'The upstream of "steady" in "blank"' });

  await until('the first probe', async () => (await check()) !== undefined, TWO_PROBES_MS);
  await page.goto('/ui/health');
  await row.getByText('that it is well').waitFor();
  await row.getByText('works', { exact: true }).waitFor();

  upstream.failing.add('/well');
  await until('the failure', async () => (await check()).status === 'failing', TWO_PROBES_MS);
  await page.getByRole('button', { name: 'Check again' }).click();
  await row.getByText('did not say').waitFor();
  await row.getByText('(HTTP 422)').waitFor();
  await row.getByText('fails', { exact: true }).waitFor();
  const link = row.getByRole('link', { name: 'steady' });
  assert.equal(await link.getAttribute('href'), '/ui/projects/blank/tools/steady?tab=definition');
  await assertAccessible(page);
  await link.click();
  await page.getByRole('heading', { name: 'steady', level: 1 }).waitFor();
  await page.goBack();

  upstream.failing.delete('/well');
  await until('the recovery', async () => (await check()).status === 'ok', TWO_PROBES_MS);
  await page.getByRole('button', { name: 'Check again' }).click();
  await row.getByText('works', { exact: true }).waitFor();
});
