// How people look at the dashboard: themes and widths. A page that is open changes its look without being loaded again.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { assertAccessible } from './axe.mjs';
import { overflow } from './browser.mjs';

const FOLDER = process.env.TOOLGATE_SCREENSHOTS ?? resolve(import.meta.dirname, '../../target/screenshots');
const HEIGHTS = { 320: 700, 390: 844, 1280: 800, 1920: 1080 };
const DARK = { colorScheme: 'dark' };
const LIGHT = { colorScheme: 'light' };
/** The widths and colours under which the rules are checked. */
const CHECKED = [
  { name: 'light, 1280 pixels', width: 1280, media: LIGHT },
  { name: 'dark, 1280 pixels', width: 1280, media: DARK },
  { name: 'light with high contrast, 1280 pixels', width: 1280, media: { ...LIGHT, contrast: 'more' } },
  { name: 'dark with high contrast, 1280 pixels', width: 1280, media: { ...DARK, contrast: 'more' } },
  { name: 'dark, 390 pixels', width: 390, media: DARK },
  { name: 'light, 390 pixels', width: 390, media: LIGHT },
];

async function wear(page, { width, media }) {
  await page.emulateMedia({ contrast: 'no-preference', ...media });
  await page.setViewportSize({ width, height: HEIGHTS[width] });
}

/** Fails when the page breaks a rule or is wider than its window in any look. */
export async function assertGoodInEveryLook(page, what) {
  for (const look of CHECKED) {
    await wear(page, look);
    await assertAccessible(page, `${what}: ${look.name}`);
    const wider = await overflow(page);
    if (wider > 0) throw new Error(`${what}: ${wider} pixels wider than the window: ${look.name}`);
  }
}

/** Keeps pictures of the page for people to look at. */
export async function keepPictures(page, name) {
  await mkdir(FOLDER, { recursive: true });
  for (const [theme, media] of [['light', LIGHT], ['dark', DARK]]) {
    for (const width of [390, 1280, 1920]) {
      await wear(page, { width, media });
      await page.screenshot({ path: join(FOLDER, `${name}-${width}-${theme}.png`) });
    }
  }
}
