/** A text editor for definitions, with the faults that are told beside it. */
export class Editor {
  constructor(page, name) {
    this.page = page;
    this.field = page.getByRole('textbox', { name });
    this.faults = page.locator('.fault');
  }

  text() {
    return this.field.inputValue();
  }

  write(text) {
    return this.field.fill(text);
  }

  async replace(part, by) {
    await this.write((await this.text()).replace(part, by));
  }

  /** Where the cursor stands, as line and column from 1. */
  cursor() {
    return this.field.evaluate((field) => {
      const lines = field.value.slice(0, field.selectionStart).split('\n');
      return { line: lines.length, column: lines.at(-1).length + 1, focused: field === document.activeElement };
    });
  }
}
