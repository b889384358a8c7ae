import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

stage.story('a session moves before one’s eyes', async (page) => {
  const { server } = stage;
  const agent = await server.createKey('demo', 'watched agent', ['knowledge', 'writing']);
  const asAgent = (path, body) => server.ask('POST', `/projects/demo/${path}`, { body, token: agent.secret });
  const { body: session } = await asAgent('sessions', { group: ['knowledge', 'writing'], label: 'a watched run' });
  await page.goto(`/ui/projects/demo/sessions?session=${session.id}`);
  await settled(page);
  const drawer = page.getByRole('dialog', { name: 'Session' });
  await drawer.getByText('live', { exact: true }).waitFor();

  await asAgent('calls', { session_id: session.id, tool: 'look-up', arguments: { word: 'gate' } });
  const happened = (tool) => drawer.getByRole('listitem').filter({ has: page.getByRole('link', { name: tool, exact: true }) });
  await happened('look-up').getByText('found').waitFor();

  await asAgent('calls', { session_id: session.id, tool: 'publish', arguments: {} });
  await happened('publish').getByText('denied', { ignoreCase: true }).waitFor();
  await happened('publish').getByText('tool_not_in_state').waitFor();

  await asAgent('calls', { session_id: session.id, tool: 'summarise', arguments: { words: 3 } });
  await happened('summarise').getByText('summed-up').waitFor();
  await drawer.locator('.fact').filter({ hasText: 'State' }).getByText('summed-up').waitFor();
});
