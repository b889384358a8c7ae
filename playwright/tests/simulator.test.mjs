import assert from 'node:assert/strict';

import { settled } from '../support/browser.mjs';
import { setStage } from '../support/stage.mjs';

const stage = setStage();

/** Who asks for what in which state. Nobody named is the administrator. */
const QUESTIONS = [
  { group: ['*'] },
  { group: ['knowledge'] },
  { group: ['knowledge'], state: 'found' },
  { group: ['knowledge', 'writing'], state: 'summed-up' },
  { group: ['research'], state: 'research' },
  { group: ['no-such-group'] },
  { state: 'no such state' },
  { who: 'reading agent', group: ['knowledge'] },
  { who: 'reading agent', group: ['writing'], state: 'summed-up' },
  { who: 'reading agent', group: ['*'] },
  { who: 'reading agent' },
  { who: 'writing agent', group: ['writing'], state: 'found' },
  { who: 'writing agent', group: ['knowledge', 'writing'], state: 'found', tool: 'summarise' },
  { who: 'writing agent', group: ['knowledge/deep'], state: 'found' },
];

const told = ({ who = 'the administrator', group = '(absent)', state = '(absent)', tool = 'every tool' }) =>
  `${who} asks for ${group} in ${state} about ${tool}`;

for (const question of QUESTIONS) {
  stage.story(`the page says what the API says: ${told(question)}`, async (page) => {
    const { server } = stage;
    const people = (await server.get('/projects/demo/permissions')).items;
    const principal = people.find((row) => row.name === question.who)?.principal;
    assert.equal(Boolean(principal), Boolean(question.who), 'the question is about somebody who is there');
    const { group, state, tool } = question;
    const answer = await server.post('/projects/demo/explain', { principal, group, state, tool, limit: 100 });
    const expected = answer.items.map((item) => ({
      tool: item.tool,
      effect: item.effect === 'allow' ? 'allowed' : 'refused',
      code: item.code ?? '',
      summary: item.summary,
    }));
    assert.notEqual(expected.length, 0);

    const records = await server.get('/projects/demo/audit?action=call&limit=1');
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries({ principal, group: group?.join(','), state, tool })) {
      if (value) asked.set(name, value);
    }
    await page.goto(`/ui/projects/demo/simulator?${asked}`);
    await page.locator('summary').first().waitFor();
    await settled(page);
    const shown = await page.locator('li:has(> details)').evaluateAll((items) =>
      items.map((item) => ({
        tool: item.querySelector('.tool-name').textContent,
        effect: item.querySelector('.badge').textContent.trim(),
        code: item.querySelector('summary code')?.textContent ?? '',
        summary: item.querySelector('details p').textContent,
      })),
    );
    assert.deepEqual(shown, expected);
    const after = await server.get('/projects/demo/audit?action=call&limit=1');
    assert.equal(after.items[0].id, records.items[0].id, 'nothing was called');
  });
}

stage.story('the question is asked with the form, and can be sent to others as an address', async (page) => {
  await page.goto('/ui/projects/demo/simulator');
  await page.getByLabel('Who').selectOption({ label: 'reading agent (service key)' });
  await page.getByLabel('Asks for the groups').fill('knowledge');
  await page.getByLabel('In the state').fill('found');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.waitForURL(/group=knowledge.*state=found|state=found.*group=knowledge/);
  const summary = page.locator('summary').filter({ hasText: 'summarise' });
  await summary.getByText('allowed').waitFor();
  const address = page.url();
  await page.goto('about:blank');
  await page.goto(address);
  await summary.getByText('allowed').waitFor();
  assert.equal(await page.getByLabel('In the state').inputValue(), 'found');
});
