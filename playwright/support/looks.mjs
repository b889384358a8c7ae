// How people look at the dashboard: themes and widths. A page that is open changes its look without being loaded again.
import { COLOURS, assertAccessible } from './axe.mjs';
import { overflow } from './browser.mjs';
import { WANTED, keepPicture } from './pictures.mjs';

const HEIGHTS = { 390: 844, 1280: 800, 1920: 1080 };
const LIGHT = { colorScheme: 'light' };
const DARK = { colorScheme: 'dark' };
/** The widths, colours and chosen themes under which the rules are checked: all of them once at each width, then those of colours. */
const CHECKED = [
  { width: 1280, media: LIGHT },
  { width: 1280, media: DARK, rules: COLOURS },
  { width: 1280, media: LIGHT, theme: 'contrast', rules: COLOURS },
  { width: 1280, media: DARK, theme: 'contrast', rules: COLOURS },
  { width: 390, media: DARK },
  { width: 390, media: LIGHT, rules: COLOURS },
];
/** What pictures are kept of. */
const PICTURED = [390, 1280, 1920].flatMap((width) => [LIGHT, DARK].map((media) => ({ width, media })));

/** The colours, the chosen theme and the width, for messages. */
const nameOf = ({ width, media, theme }) => [media.colorScheme, theme, `${width} pixels`].filter(Boolean).join(', ');

/** Looks at the open page in another way. The theme is shown as if it had been chosen in the menu. */
async function wear(page, { width, media, theme }) {
  await page.emulateMedia(media);
  await page.setViewportSize({ width, height: HEIGHTS[width] });
  await page.evaluate((name) => {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
  }, theme);
}

/** Fails when the page breaks a rule or is wider than its window in any look. */
export async function assertGoodInEveryLook(page, what) {
  for (const look of CHECKED) {
    await wear(page, look);
    await assertAccessible(page, `${what}: ${nameOf(look)}`, look.rules);
    const wider = await overflow(page);
    if (wider > 0) throw new Error(`${what}: ${wider} pixels wider than the window: ${nameOf(look)}`);
  }
}

/** Keeps pictures of the page for people to look at, if they are wanted. */
export async function keepPictures(page, name) {
  if (!WANTED) return;
  for (const look of PICTURED) {
    await wear(page, look);
    await keepPicture(page, `${name}-${look.width}-${look.media.colorScheme}`);
  }
}
