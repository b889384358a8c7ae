// Signing in with a second factor: set up by the user, and required by an administrator.
import assert from 'node:assert/strict';

import { Frame } from '../pages/frame.mjs';
import { SignInPage } from '../pages/sign-in.mjs';
import { assertAccessible } from '../support/axe.mjs';
import { signedIn, visit } from '../support/browser.mjs';
import { member } from '../support/people.mjs';
import { setStage } from '../support/stage.mjs';
import { code } from '../support/totp.mjs';

const stage = setStage();
const AT = '/auth/login';

/** Reads the secret that is to be typed, confirms it by its code, and keeps the recovery codes. */
async function setUp(page, place) {
  const secret = (await place.getByText(/^[A-Z2-7]{32}$/).textContent()).trim();
  await place.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
  await assertAccessible(page, 'the secret of a second factor');
  await place.getByLabel('Code', { exact: true }).fill(code(secret));
  await place.getByRole('button', { name: 'Confirm' }).click();
  await place.getByText('Keep these recovery codes').waitFor();
  const codes = (await place.locator('pre').textContent()).trim().split('\n');
  assert.equal(codes.length, 10);
  await place.getByRole('button', { name: 'I have saved the codes' }).click();
  return { secret, codes };
}

stage.story('a user sets up a second factor, signs in with it, and removes it', {}, async () => {
  const { browser, server } = stage;
  const eve = await member(server, 'eve', 'viewer');
  const storageState = await signedIn(browser, server.origin, eve);
  let factor;
  await visit(browser, server.origin, { storageState }, async (page) => {
    const frame = new Frame(page);
    await page.goto('/ui/projects/demo/tools');
    await frame.account.click();
    await page.getByRole('button', { name: 'Second factor' }).click();
    const dialog = page.getByRole('dialog', { name: 'Second factor' });
    await dialog.getByLabel('Password').fill(eve.password);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    factor = await setUp(page, dialog);
    await dialog.waitFor({ state: 'hidden' });
  });
  await visit(browser, server.origin, { refusals: [AT, '/auth/second-factor/remove'] }, async (page) => {
    const form = new SignInPage(page);
    await form.open();
    await form.signIn(eve);
    const field = page.getByLabel('Code', { exact: true });
    await field.fill('000000');
    await assertAccessible(page, 'signing in with a code');
    await form.button.click();
    await page.getByText('The code is wrong or was used already.').waitFor();
    // The code of the next half minute: that of the set-up counts no more.
    await field.fill(code(factor.secret, 1));
    await form.button.click();
    const frame = new Frame(page);
    await frame.account.click();
    await page.getByRole('button', { name: 'Second factor' }).click();
    const dialog = page.getByRole('dialog', { name: 'Second factor' });
    const remove = dialog.getByRole('button', { name: 'Remove the second factor' });
    await dialog.getByLabel('Password').fill('not the password');
    await dialog.getByLabel('Code', { exact: true }).fill(factor.codes[0]);
    await remove.click();
    await dialog.getByText('The user name or the password is wrong.').waitFor();
    await dialog.getByLabel('Password').fill(eve.password);
    await remove.click();
    await page.getByText('Your second factor is removed.').waitFor();
  });
  await signedIn(browser, server.origin, eve);
});

stage.story('an administrator requires a second factor, and removes one that is lost', {}, async (page) => {
  const { browser, server } = stage;
  const ida = await member(server, 'ida', 'viewer');
  await page.goto('/ui/users');
  await page.getByRole('button', { name: 'Require 2FA: ida' }).click();
  await page.getByRole('button', { name: 'Require a second factor', exact: true }).click();
  await page.getByText('second factor missing').waitFor();
  await visit(browser, server.origin, { refusals: [AT] }, async (own) => {
    const form = new SignInPage(own);
    await form.open();
    await form.signIn(ida);
    await own.getByText('An administrator requires a second factor of you.').waitFor();
    await setUp(own, own.locator('main'));
    await new Frame(own).account.waitFor();
  });
  await page.reload();
  await page.getByRole('button', { name: 'Remove 2FA: ida' }).click();
  await assertAccessible(page, 'removing a second factor');
  await page.getByRole('button', { name: 'Remove the second factor', exact: true }).click();
  await page.getByText('The second factor of ida is removed.').waitFor();
  await page.getByText('second factor missing').waitFor();
});
