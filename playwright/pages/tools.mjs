import { until } from '../support/wait.mjs';

/** The tools of a project. */
export class ToolsPage {
  constructor(page) {
    this.page = page;
    this.heading = page.getByRole('heading', { name: 'Tools', level: 1 });
    this.search = page.getByRole('searchbox', { name: 'Search tools' });
    this.count = page.locator('.count');
    this.rows = page.getByRole('table', { name: 'tools' }).getByRole('rowheader');
    this.selected = page.getByRole('region', { name: 'Selected tools' });
    this.empty = page.getByRole('heading', { name: 'This project has no tools yet' });
    this.noMatch = page.getByRole('heading', { name: /^No tool matches/ });
    this.problem = page.getByRole('alert');
    this.retry = page.getByRole('button', { name: 'Try again' });
  }

  async open(project, query = '') {
    await this.page.goto(`/ui/projects/${project}/tools${query}`);
  }

  /** Waits until exactly these tools are listed. */
  async shows(...names) {
    const words = names.length === 1 ? '1 tool' : `${names.length} tools`;
    await this.count.getByText(words, { exact: true }).waitFor();
    // Rows are made a few at a time.
    const listed = this.page.locator('.tool-name');
    await until(`${names.length} rows`, async () => (await listed.count()) === names.length);
    return listed.allTextContents();
  }

  row(name) {
    return this.page.getByRole('row').filter({ has: this.page.getByText(name, { exact: true }) });
  }

  snippet(caption) {
    return this.page.getByRole('region', { name: caption }).textContent();
  }
}
