// A browser, and visits that notice what no page should do.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

import { SignInPage } from '../pages/sign-in.mjs';
import { ADMIN } from './server.mjs';

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
 * the origin and that no script failed. `refusals` lists the paths whose error answers are part of the story; `*` stands
 * for every path; `others` lists origins that the story leaves for.
 */
export async function visit(browser, origin, options, story) {
  const visitor = await Visitor.enter(browser, origin, options);
  try {
    await story(visitor.page, visitor.profile);
    visitor.assertClean();
  } finally {
    await visitor.leave();
  }
}

/** One window of one person. Several tests may share it; each asks whether it stayed clean. */
export class Visitor {
  /** Opens a window with a fresh profile. */
  static async enter(browser, origin, { refusals = [], others = [], ...options } = {}) {
    const profile = await browser.newContext({
      viewport: DESKTOP,
      reducedMotion: 'reduce',
      baseURL: origin,
      ...options,
    });
    profile.setDefaultTimeout(15_000);
    return new Visitor(profile, await profile.newPage(), [origin, ...others], refusals);
  }

  constructor(profile, page, origins, refusals) {
    this.profile = profile;
    this.page = page;
    this.refusals = refusals;
    this.faults = [];
    page.on('pageerror', (error) => this.faults.push(`script: ${error.message}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isLocal = origins.includes(url.origin) || ['data:', 'blob:'].includes(url.protocol);
      if (!isLocal) this.faults.push(`request to ${request.url()}`);
    });
    page.on('console', (message) => this.#hear(message));
  }

  /** Fails with everything that a page should not have done since it was asked last. */
  assertClean() {
    assert.deepEqual(this.faults.splice(0), []);
  }

  leave() {
    return this.profile.close();
  }

  #hear(message) {
    if (!['error', 'warning'].includes(message.type())) return;
    const from = message.location().url;
    const path = from && new URL(from).pathname;
    const isRefused = this.refusals.includes('*') || this.refusals.includes(path);
    if (isRefused && message.text().startsWith('Failed to load resource')) return;
    // Only tells that the machine is busy; whether files are loaded twice has a test of its own.
    if (message.text().includes('preloaded using link preload but not used within a few seconds')) return;
    this.faults.push(`console ${message.type()}: ${message.text()} (${from})`);
  }
}

/** Signs in once; the answer makes every later visit one of a user who is signed in. */
export async function signedIn(browser, origin, person = ADMIN) {
  let state;
  await visit(browser, origin, {}, async (page, profile) => {
    const form = new SignInPage(page);
    await form.open('?next=/ui/projects');
    await form.signIn(person);
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    state = await profile.storageState();
  });
  return state;
}

/** Waits until the page has drawn what it is busy with: no bars, nothing marked as busy. */
export function settled(page) {
  return page.waitForFunction(
    () =>
      document.querySelector('h1') &&
      ![...document.querySelectorAll('.skeleton, [aria-busy="true"]')].some((part) => part.checkVisibility()),
  );
}

/** How far the page is wider than its window, in CSS pixels. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
