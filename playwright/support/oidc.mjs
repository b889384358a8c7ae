// An OpenID Connect provider (`oidc-provider`, certified) whose persons sign in with any password.
import { once } from 'node:events';
import { createServer } from 'node:http';

import Provider from 'oidc-provider';

export const CLIENT = { id: 'gate', secret: 'a secret of the client' };

/** A provider that listens before it knows its client, whose address depends on the provider's. */
export class OidcProvider {
  static async start() {
    const http = createServer((request, response) => {
      if (request.url === '/favicon.ico') response.writeHead(204).end();
      else provider.callback(request, response);
    });
    const provider = new OidcProvider(http);
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    provider.issuer = `http://127.0.0.1:${http.address().port}`;
    return provider;
  }

  constructor(http) {
    this.http = http;
    this.groups = {};
  }

  /** Lets the server at an origin be its client. */
  serve(origin) {
    const account = (id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, name: id, groups: this.groups[id] ?? [] }),
    });
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [`${origin}/auth/sign-in/corp/callback`],
          post_logout_redirect_uris: [`${origin}/ui/sign-in`],
        },
      ],
      claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'], email: ['email'] },
      pkce: { required: () => true },
      findAccount: (_context, id) => account(id),
      cookies: { keys: ['for tests'] },
    });
    this.callback = provider.callback();
  }

  stop() {
    this.http.closeAllConnections();
    this.http.close();
  }
}
