import { writeInto } from './editor.mjs';

/** Importing a description, step by step. */
export class NewImportPage {
  constructor(page) {
    this.page = page;
    this.description = page.getByRole('textbox', { name: 'Description', exact: true });
    this.readButton = page.getByRole('button', { name: 'Read it' });
    this.operations = page.getByRole('region', { name: 'The operations' });
    this.search = page.getByRole('searchbox', { name: 'Search operations' });
    this.only = page.getByRole('button', { name: 'Choose only what is listed' });
    this.hosts = page.getByRole('region', { name: 'What the description leaves open' });
    this.id = page.getByLabel('Id of the import');
    this.look = page.getByRole('button', { name: 'See what importing would do' });
    this.outlook = page.getByRole('region', { name: 'What importing would do' });
    this.importButton = page.getByRole('button', { name: /^Import \d+ operations?$/ });
    this.imported = page.getByRole('region', { name: 'Imported' });
    this.arguments = page.getByRole('dialog', { name: /^Arguments of / });
  }

  async open(project) {
    await this.page.goto(`/ui/projects/${project}/imports/new`);
    await this.description.waitFor();
  }

  /** Types a description and has it read. */
  async read(text) {
    await writeInto(this.description, text);
    await this.readButton.click();
    await this.operations.waitFor();
  }

  /** The box of an operation, a path or a tag. */
  box(name) {
    return this.operations.getByRole('checkbox', { name, exact: true });
  }
}

/** The inbox, and one change of it. */
export class QuarantinePage {
  constructor(page) {
    this.page = page;
    this.rows = page.getByRole('table', { name: 'changes' }).getByRole('rowheader');
    this.conflicts = page.getByRole('region', { name: /^Conflicts of / });
    this.approve = page.getByRole('button', { name: 'Approve', exact: true });
    this.reject = page.getByRole('button', { name: 'Reject', exact: true });
    this.selected = page.getByRole('region', { name: 'Selected changes' });
    this.dialog = page.getByRole('dialog');
    this.count = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Quarantine/ });
  }

  /** The box of a row. */
  box(tool) {
    return this.page.getByRole('checkbox', { name: `Select ${tool}`, exact: true });
  }

  async open(project, query = '') {
    await this.page.goto(`/ui/projects/${project}/quarantine${query}`);
  }
}
