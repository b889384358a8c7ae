import { Editor } from './editor.mjs';

/** Uploading definitions. */
export class UploadPage {
  constructor(page) {
    this.page = page;
    this.editor = new Editor(page, 'Definitions');
    this.files = page.locator('input[type=file]').first();
    this.check = page.getByRole('button', { name: 'Check', exact: true });
    this.apply = page.getByRole('button', { name: 'Apply', exact: true });
    this.outlook = page.getByRole('heading', { name: 'What applying would do' });
    this.applied = page.getByRole('heading', { name: 'Applied' });
  }

  async open(project) {
    await this.page.goto(`/ui/projects/${project}/upload`);
    await this.editor.field.waitFor();
  }
}
