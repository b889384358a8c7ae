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
  await drawer.getByText('It has not moved yet.').waitFor();

  await asAgent('calls', { session_id: session.id, tool: 'look-up', arguments: { word: 'gate' } });
  const way = drawer.getByRole('list').filter({ hasText: 'look-up' });
  await way.getByText('found').first().waitFor();
  await drawer.getByText('summarise').first().waitFor();

  await asAgent('calls', { session_id: session.id, tool: 'summarise', arguments: { words: 3 } });
  await way.getByText('summed-up').first().waitFor();
});
