// A service behind the tools: answers every request with what it was asked, or as its path says.
import { createServer } from 'node:http';
import { once } from 'node:events';

/** A listening upstream. Stop it when done. */
export class Upstream {
  /** Listens on a free port. */
  static async start() {
    const upstream = new Upstream();
    upstream.server.listen(0, '127.0.0.1');
    await once(upstream.server, 'listening');
    upstream.origin = `http://127.0.0.1:${upstream.server.address().port}`;
    return upstream;
  }

  constructor() {
    this.requests = [];
    /** What is served at a path instead, as JSON text. */
    this.documents = new Map();
    /** Paths that fail. */
    this.failing = new Set();
    this.server = createServer((request, response) => {
      this.requests.push({ path: request.url, headers: request.headers });
      const [, first] = request.url.split('/');
      response.setHeader('content-type', 'application/json');
      response.statusCode = first === 'fail' || this.failing.has(request.url) ? 422 : 200;
      const document = this.documents.get(request.url);
      response.end(document ?? JSON.stringify({ asked: request.url, answer: first === 'fail' ? 'refused' : 'done' }));
    });
  }

  /** Ends it, together with the connections that clients keep. */
  async stop() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
