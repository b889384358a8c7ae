// A service at which persons have accounts: an OAuth 2.1 authorization server, and an API that says whose credential it was sent.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** A personal key that the API takes. */
export const KEY = 'personal-key-of-ada';

/** A listening service. Stop it when done. */
export class AccountService {
  static async start() {
    const service = new AccountService();
    service.server.listen(0, '127.0.0.1');
    await once(service.server, 'listening');
    service.host = `127.0.0.1:${service.server.address().port}`;
    service.origin = `http://${service.host}`;
    return service;
  }

  constructor() {
    this.codes = new Map();
    this.tokens = new Set();
    this.server = createServer((request, response) => this.#serve(request, response));
  }

  async stop() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  async #serve(request, response) {
    const url = new URL(request.url, this.origin);
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const json = (value, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/api':
        return json({ resource: `${this.origin}/api`, authorization_servers: [this.origin] });
      case '/.well-known/oauth-authorization-server':
        return json({
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/register':
        return json({ client_id: 'registered', redirect_uris: JSON.parse(body).redirect_uris }, 201);
      case '/authorize':
        return response.writeHead(200, { 'content-type': 'text/html' }).end(this.#question(url.searchParams));
      case '/token':
        return this.#token(new URLSearchParams(body), json);
      case '/api':
        return this.#api(request.headers, json);
      default:
        return json({ error: 'not found' }, 404);
    }
  }

  /** The page on which a person lets the client in. */
  #question(asked) {
    const code = `code-${this.codes.size + 1}`;
    this.codes.set(code, asked.get('code_challenge'));
    const back = new URL(asked.get('redirect_uri'));
    back.search = new URLSearchParams({ code, state: asked.get('state'), iss: this.origin });
    const href = back.href.replaceAll('&', '&amp;');
    return `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Sign in</title><a href="${href}">Let Toolgate in</a></html>`;
  }

  #token(form, json) {
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (form.get('grant_type') !== 'authorization_code' || this.codes.get(form.get('code')) !== challenge) {
      return json({ error: 'invalid_grant' }, 400);
    }
    this.codes.delete(form.get('code'));
    const token = `access-token-${this.tokens.size + 1}`;
    this.tokens.add(token);
    return json({ access_token: token, token_type: 'Bearer', expires_in: 3600 });
  }

  #api(headers, json) {
    if (this.tokens.has((headers.authorization ?? '').replace(/^Bearer /, ''))) return json({ who: 'a connected person' });
    if (headers['x-api-key'] === KEY) return json({ who: 'the holder of a key' });
    return json({ message: 'no' }, 401);
  }
}
