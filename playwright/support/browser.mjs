// A browser, and visits that notice what no page should do.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** Starts the browser; nothing in it may call home. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/**
 * Opens a page with a fresh profile, lets `story` use it, and checks that the console stayed clean, that nothing left
 * the origin and that no script failed. `refusals` lists the paths whose error answers are part of the story.
 */
export async function visit(browser, origin, options, story) {
  const { refusals = [], ...context } = options;
  const profile = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', baseURL: origin, ...context });
  profile.setDefaultTimeout(15_000);
  const page = await profile.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') faults.push(`request to ${request.url()}`);
  });
  page.on('console', (message) => {
    const from = message.location().url;
    const isRefusal =
      message.text().startsWith('Failed to load resource') && refusals.includes(from && new URL(from).pathname);
    if (['error', 'warning'].includes(message.type()) && !isRefusal) {
      faults.push(`console ${message.type()}: ${message.text()} (${from})`);
    }
  });
  try {
    await story(page, profile);
    assert.deepEqual(faults, []);
  } finally {
    await profile.close();
  }
}

/** How far the page is wider than its window, in CSS pixels. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
