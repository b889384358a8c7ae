import { settled } from '../support/browser.mjs';
import { Editor } from './editor.mjs';

/** The editor of a tool's definition, with the dialog that reviews what would be saved. */
export class DefinitionPage {
  constructor(page) {
    this.page = page;
    this.yaml = new Editor(page, 'Definition as YAML');
    this.form = page.getByRole('group', { name: 'Definition as a form' });
    this.reviewButton = page.getByRole('button', { name: 'Review changes' });
    this.review = page.getByRole('dialog', { name: 'Review changes' });
    this.conflict = this.review.getByRole('region', { name: 'Conflict' });
  }

  async open(tool) {
    await this.page.goto(`/ui/projects/demo/tools/${tool}?tab=definition`);
    await this.yaml.field.waitFor();
    await settled(this.page);
  }

  async save(note) {
    await this.reviewButton.click();
    await this.review.getByLabel('Note').fill(note);
    await this.review.getByRole('button', { name: 'Save', exact: true }).click();
  }

  saved() {
    return this.page.getByText('Saved as a new revision.').first().waitFor();
  }
}
