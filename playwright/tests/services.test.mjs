// The pages of tool services and workers: what is defined is listed with its tools, also where there is no message bus.
import { settled } from '../support/browser.mjs';
import { SERVICE } from '../support/pages.mjs';
import { setStage } from '../support/stage.mjs';

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
