// Pictures that a run leaves for people to look at.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const FOLDER = process.env.TOOLGATE_SCREENSHOTS ?? resolve(import.meta.dirname, '../../target/screenshots');

/** Keeps a picture of what the window shows. */
export async function keepPicture(page, name) {
  await mkdir(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name.replaceAll(/[^a-z0-9-]+/gi, '-').slice(0, 100)}.png`) });
}

/** Runs a story; when it fails, what the page showed then is kept. */
export async function picturedOnFailure(page, name, story) {
  try {
    return await story();
  } catch (error) {
    // The page itself may be gone; what went wrong matters more.
    await keepPicture(page, `failed-${name}`).catch(() => {});
    throw error;
  }
}
