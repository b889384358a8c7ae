import { Editor } from './editor.mjs';

/** The MCP servers of a project, adding some, and one of them. */
export class McpServersPage {
  constructor(page) {
    this.page = page;
    this.document = new Editor(page, 'Document of servers');
    this.look = page.getByRole('button', { name: 'See what would be added' });
    this.outlook = page.getByRole('region', { name: 'What would be added' });
    this.about = page.getByRole('region', { name: 'About' });
    this.connection = page.getByRole('region', { name: 'Connection' });
    this.lookAtTools = page.getByRole('button', { name: 'See what importing would do' });
    this.verdict = page.getByRole('region', { name: 'What importing would do' });
    this.import = page.getByRole('button', { name: 'Import', exact: true }).last();
    this.showTools = page.getByRole('link', { name: 'Show its tools' });
  }

  async open(project, query = '') {
    await this.page.goto(`/ui/projects/${project}/mcp-servers${query}`);
    await this.page.getByRole('heading', { name: 'MCP servers', level: 1 }).waitFor();
  }

  /** The row of a server. */
  row(name) {
    return this.page.getByRole('table', { name: 'MCP servers' }).getByRole('row').filter({ has: this.page.getByRole('link', { name, exact: true }) });
  }

  /** The row of a tool of the server. */
  tool(name) {
    return this.page.getByRole('table', { name: 'tools' }).getByRole('row').filter({ has: this.page.getByRole('link', { name, exact: true }) });
  }

  /** A view of the server. */
  tab(name) {
    return this.page.getByRole('navigation', { name: 'Views of the server' }).getByRole('button', { name });
  }
}
