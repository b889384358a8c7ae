// Pictures for people to look at: of every page where a folder for them is named, and always of one that failed.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
export const WANTED = process.env.TOOLGATE_SCREENSHOTS;
const FOLDER = resolve(ROOT, WANTED ?? 'target/screenshots');

/** Keeps a picture of what the window shows, if pictures are wanted. */
export async function keepPicture(page, name) {
  if (WANTED) await takePicture(page, name);
}

async function takePicture(page, name) {
  await mkdir(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name.replaceAll(/[^a-z0-9-]+/gi, '-').slice(0, 100)}.png`) });
}

/** Runs a story; when it fails, what the page showed then is kept. */
export async function picturedOnFailure(page, name, story) {
  try {
    return await story();
  } catch (error) {
    // The page itself may be gone; what went wrong matters more.
    await takePicture(page, `failed-${name}`).catch(() => {});
    throw error;
  }
}
