import { becomes, until } from '../support/wait.mjs';

/** Writes into a field that an editor takes the place of as soon as it is loaded. */
export async function writeInto(field, text) {
  await field.and(field.page().locator('.cm-content')).waitFor();
  await field.fill(text);
}

/** An editor for definitions, with the faults that are listed beside it. */
export class Editor {
  constructor(page, name) {
    this.page = page;
    this.field = page.getByRole('textbox', { name, exact: true });
    this.box = page.locator('.editor').filter({ has: this.field });
    this.marks = this.box.locator('.cm-lintRange');
    this.completions = page
      .locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)')
      .getByRole('listbox', { name: 'Completions' });
    this.faults = page.locator('.fault');
  }

  /** Waits until the editor is in place of the plain field that the page begins with. */
  ready() {
    return this.box.locator('.cm-content').waitFor();
  }

  /** The whole text: the editor itself has only the lines in sight on the page. */
  text() {
    return this.box.locator(':scope > textarea').inputValue();
  }

  /** Takes the completion `name`: the list ignores a press while it is read again for what was just typed. */
  async complete(name) {
    const choice = this.completions.getByText(name, { exact: true }).first();
    await choice.waitFor();
    await until(`the completion ${name}`, async () => {
      if (await choice.isVisible()) await choice.click();
      return (await this.page.locator('.cm-tooltip-autocomplete').count()) === 0;
    });
  }

  async write(text) {
    await this.ready();
    await this.field.focus();
    await this.page.keyboard.press('ControlOrMeta+a');
    await this.page.keyboard.insertText(text);
    await becomes(() => this.text(), text);
  }

  async replace(part, by) {
    await this.ready();
    await this.write((await this.text()).replace(part, by));
  }

  /** Where the cursor is, as line and column from 1. */
  async cursor() {
    const line = Number(await this.box.locator('.cm-lineNumbers .cm-activeLineGutter').textContent());
    return this.field.evaluate((field, line) => {
      const { anchorNode, anchorOffset } = getSelection();
      const inLine = (anchorNode.nodeType === Node.TEXT_NODE ? anchorNode.parentElement : anchorNode).closest('.cm-line');
      const before = new Range();
      before.setStart(inLine, 0);
      before.setEnd(anchorNode, anchorOffset);
      return { line, column: before.toString().length + 1, focused: field === document.activeElement };
    }, line);
  }
}
