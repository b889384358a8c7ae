// What an MCP client with OAuth keeps, and where it waits for the person's answer.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** What a client keeps, and the address that it wants opened. */
export class Provider {
  constructor(redirectUrl) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = {
      client_name: 'Story client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  state() {
    return 'the state of the story';
  }
  clientInformation() {
    return this.information;
  }
  saveClientInformation(information) {
    this.information = information;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens) {
    this.kept = tokens;
  }
  invalidateCredentials() {
    this.kept = undefined;
  }
  redirectToAuthorization(url) {
    this.asked = url;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
}

/** Where the client waits for the answer; `answered` is the address that the browser was sent to. */
export async function waiting() {
  let arrived;
  const answered = new Promise((resolve) => {
    arrived = resolve;
  });
  const listener = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    response.end('<!doctype html><html lang="en"><title>Done</title><h1>You may close this page</h1>');
    if (url.pathname === '/callback') arrived(url);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return { redirectUrl: `http://127.0.0.1:${listener.address().port}/callback`, answered, close: () => listener.close() };
}

/** Who is not signed in yet is asked for it, and the page leads to the client's address. */
export const asked = (callback) => ({ refusals: ['/auth/me'], others: [new URL(callback.redirectUrl).origin] });

/** A host and port of this machine that nothing listens on: a server whose metadata names its address needs it before it starts. */
export async function freeAddress() {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  await new Promise((closed) => free.close(closed));
  return `127.0.0.1:${port}`;
}
