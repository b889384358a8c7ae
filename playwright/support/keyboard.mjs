// Walking through a page without a mouse.
import assert from 'node:assert/strict';

/** More stops than any way through a page may have. */
const MOST = 80;

/** Presses Tab until the part has the focus. Every stop on the way must be seen. */
export async function tabTo(page, part, key = 'Tab') {
  await part.waitFor();
  for (let stops = 0; stops < MOST; stops += 1) {
    if (await part.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
    await assertFocusSeen(page);
  }
  assert.fail(`the focus does not come to ${part}`);
}

/** Walks through the whole page. Every stop must be seen, and none may hold the focus. */
export async function walk(page) {
  await page.evaluate(() => document.activeElement?.blur());
  let stops = 0;
  for (let before = null; stops < MOST; stops += 1) {
    await page.keyboard.press('Tab');
    await assertFocusSeen(page);
    const now = await page.evaluateHandle(() => document.activeElement);
    const { isEnd, isHeld, markup } = await page.evaluate(
      ([now, before]) => ({
        isEnd: now === document.body || now.matches('.skip-link'),
        isHeld: now === before,
        markup: now.outerHTML.slice(0, 160),
      }),
      [now, before],
    );
    assert.ok(!isHeld, `the focus stays on ${markup}`);
    if (isEnd && stops > 0) break;
    before = now;
  }
  return stops;
}

/** Goes to a part and presses it. */
export async function press(page, part) {
  await tabTo(page, part);
  await page.keyboard.press('Enter');
}

/** Fails unless what has the focus says so, and nothing lies over it. */
async function assertFocusSeen(page) {
  const fault = await page.evaluate(() => {
    const element = document.activeElement;
    // Between the last stop and the first one the browser itself has the focus.
    if (!element || element === document.body) return null;
    const { left, top, bottom, width, height } = element.getBoundingClientRect();
    const shown = getComputedStyle(element);
    const markup = element.outerHTML.slice(0, 160);
    // What is drawn in place of a hidden control shows the focus for it.
    if (width <= 1 || height <= 1 || shown.opacity === '0') return null;
    const hasRing = [element, element.closest('.editor, .search, label')].some((part) => {
      const { outlineStyle, outlineWidth, boxShadow } = part ? getComputedStyle(part) : shown;
      return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
    });
    // An arrow of a drawing shows the focus by its line, and the box around it may hold other things.
    if (element instanceof SVGElement) return null;
    if (!hasRing) return `the focused element has no focus indicator: ${markup}`;
    // What is taller than the window is looked for in the part that is in sight.
    const middle = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
    const at = document.elementFromPoint(left + Math.min(width, 24) / 2, middle);
    const isOnTop = at && (element.contains(at) || at.contains(element));
    return isOnTop ? null : `the focused element is covered by another one: ${markup}`;
  });
  assert.equal(fault, null);
}
