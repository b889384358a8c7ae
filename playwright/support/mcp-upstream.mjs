// An MCP server behind the gateway, over HTTP: answers the requests of the protocol as JSON, with the tools that it has now.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** The MCP server that is in every project with servers. */
export const SERVER = 'weather';

/** A tool as a server lists it. */
export const listed = (name, description = `Says ${name}.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { city: { type: 'string', description: 'Which one' } }, required: ['city'] },
  annotations: { readOnlyHint: true },
});

/** A listening MCP server. Stop it when done. */
export class McpUpstream {
  /** Listens on a free port, or on the given one. */
  static async start(tools = [listed('forecast')], port = 0) {
    const upstream = new McpUpstream(tools);
    upstream.server.listen(port, '127.0.0.1');
    await once(upstream.server, 'listening');
    upstream.port = upstream.server.address().port;
    upstream.origin = `http://127.0.0.1:${upstream.port}`;
    upstream.url = `${upstream.origin}/mcp`;
    return upstream;
  }

  constructor(tools) {
    this.tools = tools;
    /** Every message that came, with the headers of its request. */
    this.messages = [];
    this.server = createServer((request, response) => this.#serve(request, response));
  }

  /** Ends it, together with the connections that clients keep. */
  async stop() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  async #serve(request, response) {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const parts = [];
    for await (const part of request) parts.push(part);
    const message = JSON.parse(Buffer.concat(parts).toString());
    this.messages.push({ message, headers: request.headers });
    if (message.id === undefined || message.method === undefined) return response.writeHead(202).end();
    const answer = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...this.#answer(message) });
    return response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' }).end(answer);
  }

  #answer({ method, params }) {
    switch (method) {
      case 'initialize':
        return {
          result: {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'weather-server', version: '1.2.0' },
          },
        };
      case 'tools/list':
        return { result: { tools: this.tools } };
      case 'tools/call':
        return { result: { content: [{ type: 'text', text: 'sunny' }] } };
      case 'ping':
        return { result: {} };
      default:
        return { error: { code: -32601, message: `unknown method ${method}` } };
    }
  }
}
