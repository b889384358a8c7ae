import assert from 'node:assert/strict';

import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

/** Who asks for what in which state. Without a name it is the administrator. */
const QUESTIONS = [
  { group: ['*'] },
  { group: ['knowledge'] },
  { group: ['knowledge'], state: 'found' },
  { group: ['knowledge', 'writing'], state: 'summed-up' },
  { group: ['research'], state: 'research' },
  { group: ['no-such-group'] },
  { group: [] },
  { state: 'no such state' },
  { who: 'reading agent', group: ['knowledge'] },
  { who: 'reading agent', group: ['writing'], state: 'summed-up' },
  { who: 'reading agent', group: ['*'] },
  { who: 'reading agent' },
  { who: 'writing agent', group: ['writing'], state: 'found' },
  { who: 'writing agent', group: ['knowledge', 'writing'], state: 'found', tool: 'summarise' },
  { who: 'writing agent', group: ['knowledge/deep'], state: 'found' },
];

const byTool = (one, other) => one.tool.localeCompare(other.tool);
const inWords = ({ who = 'the administrator', group = '(absent)', state = '(absent)', tool = 'every tool' }) =>
  `${who} asks for ${group} in ${state} about ${tool}`;

for (const question of QUESTIONS) {
  stage.story(`the page says what the API says: ${inWords(question)}`, async (page) => {
    const { server } = stage;
    const people = (await server.get('/projects/demo/permissions')).items;
    const principal = people.find((row) => row.name === question.who)?.principal;
    assert.equal(Boolean(principal), Boolean(question.who), 'the question is about a principal that is there');
    const { group, state, tool } = question;
    const answer = await server.post('/projects/demo/explain', { principal, group, state, tool, limit: 100 });
    const expected = answer.items.map((item) => ({
      tool: item.tool,
      effect: item.effect === 'allow' ? 'allowed' : 'refused',
      code: item.code ?? '',
      reason: item.effect === 'allow' ? '' : item.summary,
    }));
    assert.notEqual(expected.length, 0);
    const allowed = expected.filter((item) => item.effect === 'allowed').length;

    const records = await server.get('/projects/demo/audit?action=call&limit=1');
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries({ principal, group: group?.join(','), state, tool })) {
      if (value) asked.set(name, value);
    }
    // Asking for no group and not saying which are different questions.
    if (group?.length === 0) asked.set('ask', 'nothing');
    await page.goto(`/ui/projects/demo/simulator?${asked}`);
    await page.getByText(`${allowed} of ${expected.length} tools can be called`).waitFor();
    const shown = await page.locator('li:has(> details)').evaluateAll((items) =>
      items.map((item) => ({
        tool: item.querySelector('.tool-name').textContent,
        effect: item.querySelector('.badge').textContent.trim(),
        code: item.querySelector('summary code')?.textContent ?? '',
        reason: item.querySelector(':scope > p')?.textContent ?? '',
      })),
    );
    assert.deepEqual(shown.sort(byTool), expected.sort(byTool));
    const after = await server.get('/projects/demo/audit?action=call&limit=1');
    assert.equal(after.items[0].id, records.items[0].id, 'nothing was called');
  });
}

stage.story('the question is asked with the form, and can be sent to others as an address', async (page) => {
  await page.goto('/ui/projects/demo/simulator');
  await page.getByLabel('Who').selectOption({ label: 'reading agent (service key)' });
  await page.getByLabel('Asks for').selectOption({ label: 'These groups' });
  await page.getByRole('combobox', { name: 'Groups' }).fill('knowledge');
  await page.getByLabel('In the state').fill('found');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.waitForURL(/group=knowledge.*state=found|state=found.*group=knowledge/);
  const explained = page.locator('summary').filter({ hasText: 'summarise' });
  await explained.getByText('allowed').waitFor();
  const address = page.url();
  await page.goto('about:blank');
  await page.goto(address);
  await explained.getByText('allowed').waitFor();
  await becomes(() => page.getByLabel('In the state').inputValue(), 'found');
});
