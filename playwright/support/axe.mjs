// Accessibility rules, run inside the page. The source is evaluated by the debugger, which the page's policy allows.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails with the rule and the markup of every violation. */
export async function assertAccessible(page, what) {
  const results = await page.evaluate(`${source}; axe.run(document)`);
  const violations = results.violations.map(({ id, help, nodes }) => ({
    rule: `${id}: ${help}`,
    where: nodes.map((node) => node.html.slice(0, 200)),
  }));
  assert.deepEqual(violations, [], what);
  assert.ok(results.passes.length > 10, `${what}: hardly any rule applied`);
}
