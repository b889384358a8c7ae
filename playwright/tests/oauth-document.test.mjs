// A real MCP client whose id is the https address of its metadata: nothing is registered, the document says who it is.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { generate } from 'selfsigned';

import { SignInPage } from '../pages/sign-in.mjs';
import { launch, visit } from '../support/browser.mjs';
import { Provider, asked, freeAddress, waiting } from '../support/oauth.mjs';
import { ADMIN, Server } from '../support/server.mjs';

let folder;
let documents;
let server;
let browser;
/** The paths that were asked for. */
const fetched = [];
let metadata;

/** An https server of the host `localhost`, and the file with the authority that vouches for it. */
async function serveDocuments() {
  const authority = await generate([{ name: 'commonName', value: 'Test authority' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  });
  const leaf = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const file = join(folder, 'authority.pem');
  await writeFile(file, authority.cert);
  documents = createServer({ key: leaf.private, cert: leaf.cert }, (request, response) => {
    fetched.push(request.url);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
  }).listen(0, '127.0.0.1');
  await once(documents, 'listening');
  return { file, origin: `https://localhost:${documents.address().port}` };
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolgate-documents-'));
  const { file, origin } = await serveDocuments();
  metadata = { client_id: `${origin}/client.json` };
  const listen = await freeAddress();
  server = await Server.start({
    TOOLGATE_LISTEN: listen,
    TOOLGATE_PUBLIC_URL: `http://${listen}`,
    TOOLGATE_EGRESS_ALLOW: origin,
    SSL_CERT_FILE: file,
  });
  await server.signIn();
  await server.createProject('demo', 'Demonstration');
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  documents?.close();
  await rm(folder, { recursive: true, force: true });
});

test('the document at its address names the client, and its tokens are for that id', async () => {
  const callback = await waiting();
  const provider = new Provider(callback.redirectUrl);
  provider.clientMetadataUrl = metadata.client_id;
  metadata = { ...metadata, ...provider.clientMetadata, client_name: 'Client with a document' };
  const serverUrl = new URL(`${server.origin}/projects/demo/mcp`);
  try {
    assert.equal(await auth(provider, { serverUrl }), 'REDIRECT');
    assert.equal(provider.asked.searchParams.get('client_id'), metadata.client_id);
    assert.equal(provider.information.client_id, metadata.client_id, 'it registers nowhere');
    await visit(browser, server.origin, asked(callback), async (page) => {
      await page.goto(provider.asked.href);
      const signIn = new SignInPage(page);
      await signIn.ready();
      await signIn.signIn(ADMIN);
      await page.getByRole('heading', { name: 'Connect Client with a document?' }).waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'You may close this page' }).waitFor();
    });
    const authorizationCode = (await callback.answered).searchParams.get('code');
    assert.equal(await auth(provider, { serverUrl, authorizationCode }), 'AUTHORIZED');
    assert.deepEqual([...new Set(fetched)], ['/client.json']);
    const { items } = await server.get('/projects/demo/connections');
    assert.deepEqual(items.map(({ client_name }) => client_name), ['Client with a document']);
    // The tokens are renewed under the same id.
    const before = provider.kept;
    assert.equal(await auth(provider, { serverUrl }), 'AUTHORIZED');
    assert.notEqual(provider.kept.access_token, before.access_token);
  } finally {
    callback.close();
  }
});
