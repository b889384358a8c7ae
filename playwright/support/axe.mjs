// Accessibility rules, run inside the page. The source is evaluated by the debugger, which the page's policy allows.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules that are off unless they are asked for. */
const FURTHER = { rules: { 'target-size': { enabled: true } } };

/** Fails with the rule and the markup of every violation. */
export async function assertAccessible(page, what) {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source);
  const { violations, applied } = await page.evaluate(async (options) => {
    const results = await window.axe.run(document, { ...options, resultTypes: ['violations'] });
    return {
      applied: results.passes.length,
      violations: results.violations.map(({ id, help, nodes }) => ({
        rule: `${id}: ${help}`,
        where: nodes.map((node) => node.html.slice(0, 200)),
      })),
    };
  }, FURTHER);
  assert.deepEqual(violations, [], what);
  assert.ok(applied > 10, `${what}: hardly any rule applied`);
}
