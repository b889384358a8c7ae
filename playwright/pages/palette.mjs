/** The box that finds everything. */
export class Palette {
  constructor(page) {
    this.page = page;
    this.field = page.getByRole('combobox', { name: /^Search for/ });
    this.entries = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
  }

  /** Opens it, finds an entry by what is typed, and takes it. The mouse is not needed. */
  async take(typed, entry) {
    await this.page.keyboard.press('Control+k');
    await this.field.waitFor();
    await this.page.keyboard.type(typed);
    const wanted = this.entries.filter({ hasText: entry }).first();
    await wanted.waitFor();
    while ((await wanted.getAttribute('aria-selected')) !== 'true') await this.page.keyboard.press('ArrowDown');
    await this.page.keyboard.press('Enter');
    await this.field.waitFor({ state: 'hidden' });
  }
}
