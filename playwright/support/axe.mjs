// Accessibility rules, run inside the page. The source is evaluated by the debugger, which the page's policy allows.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Every rule, and one that is off unless it is asked for. */
const ALL = { rules: { 'target-size': { enabled: true } } };
/** The rules that a change of colours alone can break. */
export const COLOURS = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** Fails with the rule and the markup of every violation. */
export async function assertAccessible(page, what, rules = ALL) {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source);
  const { violations, applied } = await page.evaluate(async (options) => {
    const results = await window.axe.run(document, { ...options, resultTypes: ['violations'] });
    return {
      // What cannot be decided, such as text above a picture, was looked at all the same.
      applied: results.passes.length + results.incomplete.length,
      violations: results.violations.map(({ id, help, nodes }) => ({
        rule: `${id}: ${help}`,
        where: nodes.map((node) => node.html.slice(0, 200)),
      })),
    };
  }, rules);
  assert.deepEqual(violations, [], what);
  assert.ok(applied > (rules === ALL ? 10 : 0), `${what}: hardly any rule applied`);
}
