// The way of one person from the form to sign in with to a job that is done, with everything that is pressed on it.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertAccessible } from '../support/axe.mjs';
import { PHONE, overflow, settled, visit } from '../support/browser.mjs';
import { picturedOnFailure } from '../support/pictures.mjs';
import { becomes } from '../support/wait.mjs';
import { SignInPage } from './sign-in.mjs';

/**
 * A test of such a way. `most` is how many clicks it may take; more means that a page has become more laborious. `run`
 * gets the page, and the journey to sign in with.
 */
export function journey(stage, name, { most, refusals = [], ...options }, run) {
  test(name, (t) => {
    const window = { ...options, refusals: ['/auth/me', ...refusals] };
    return visit(stage.browser, stage.server.origin, window, (page, profile) =>
      picturedOnFailure(page, name, async () => {
        const taken = new Journey(page);
        await taken.count(profile);
        await run(page, taken);
        const summary = taken.summary();
        t.diagnostic(summary);
        assert.ok(taken.clicks <= most, `${summary}; at most ${most} clicks are allowed`);
        await assertGoodAtTheEnd(page);
      }),
    );
  });
}

async function assertGoodAtTheEnd(page) {
  await settled(page);
  await assertAccessible(page, 'where it ends');
  await page.setViewportSize(PHONE);
  await settled(page);
  await becomes(() => overflow(page), 0, 'wider than a phone');
}

class Journey {
  /** What was pressed so far. */
  clicks = 0;
  /** How many fields were written into. */
  fields = 0;
  #parts = [];

  constructor(page) {
    this.page = page;
  }

  /** Counts from now on, on whatever page the window shows. */
  async count(profile) {
    await profile.exposeBinding('toolgateCounts', (_, clicks, fields) => {
      this.clicks += clicks;
      this.fields += fields;
    });
    await profile.addInitScript(listen);
  }

  /** Signs in by the form. */
  async signIn(person) {
    await this.page.goto('/');
    const form = new SignInPage(this.page);
    await form.ready();
    await form.signIn(person);
  }

  /** Presses the button of the browser that goes back. */
  async back() {
    this.clicks += 1;
    await this.page.goBack();
  }

  /** Ends a part of the way; returns the clicks that it took. */
  part(name) {
    const before = this.#parts.reduce((sum, part) => sum + part.clicks, 0);
    const clicks = this.clicks - before;
    // A part without a click means that the listener is missing.
    assert.ok(clicks > 0, `${name}: no click was counted`);
    this.#parts.push({ name, clicks });
    return clicks;
  }

  /** All counts in one line. */
  summary() {
    const parts = this.#parts.map(({ name, clicks }) => `${name} ${clicks}`).join(', ');
    return `${this.clicks} clicks, ${this.fields} fields (${parts})`;
  }
}

/**
 * Runs inside every page, before anything else. Counts presses of the mouse, Enter and Escape; typing is no click, but every
 * field that is written into counts as one. A list is chosen from without a mouse here: that is two clicks for a person.
 */
function listen() {
  let last = null;
  const isChoice = (field) => field.matches('select, [type=checkbox], [type=radio]');
  const on = (name, hear) => addEventListener(name, hear, { capture: true, passive: true });
  on('pointerdown', (event) => event.isTrusted && window.toolgateCounts(1, 0));
  on('keydown', (event) => event.isTrusted && ['Enter', 'Escape'].includes(event.key) && window.toolgateCounts(1, 0));
  on('change', ({ target, isTrusted }) => !isTrusted && target.matches('select') && window.toolgateCounts(2, 0));
  on('input', ({ target }) => {
    if (isChoice(target) || target === last || !target.contains(document.activeElement)) return;
    last = target;
    window.toolgateCounts(0, 1);
  });
}
