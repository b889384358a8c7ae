/** What surrounds every page of a signed-in person. */
export class Frame {
  constructor(page) {
    this.page = page;
    this.projects = page.getByRole('button', { name: /switch project$/ });
    this.account = page.getByRole('button', { name: /account$/ });
    this.signOut = page.getByRole('button', { name: 'Sign out' });
  }

  async chooseTheme(name) {
    await this.account.click();
    await this.page.getByRole('radio', { name }).check();
    await this.page.keyboard.press('Escape');
  }

  theme() {
    return this.page.evaluate(() => document.documentElement.dataset.theme ?? 'system');
  }

  ground() {
    return this.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  }
}
