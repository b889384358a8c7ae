// Governed tools, called with the TypeScript client that is generated from the document of a project's tools.
//
// `cargo xtask test --only clients` makes the project, generates the client from what its agent may call, compiles both
// strictly, and runs the result with Node's test runner.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createClient } from './generated/client/index.js';
import { isReady, needsACredential, whatIsAvailable } from './generated/sdk.gen.js';

const client = createClient({ baseUrl: required('TOOLGATE_ADDRESS'), auth: required('TOOLGATE_AGENT_KEY') });
// The document was asked for with these groups, so its operations demand them.
const query: { group: ['operations'] } = { group: ['operations'] };

function required(name: string): string {
  const value = process.env[name];
  assert(value, `${name} must be set`);
  return value;
}

describe('typescript client of tools', () => {
  it('calls a tool without arguments', async () => {
    const { data, response } = await isReady({ client, query, body: {}, throwOnError: true });
    assert.deepEqual(data, { status: 'ok' });
    assert.equal(response.headers.get('Toolgate-State'), 'checked');
    assert.match(response.headers.get('Toolgate-Call') ?? '', /^[0-9a-f-]{36}$/);
  });

  it('calls a tool with nested arguments', async () => {
    const { data } = await whatIsAvailable({
      client,
      query,
      body: { question: { group: ['operations'] } },
      throwOnError: true,
    });
    assert.deepEqual((data as { requested_groups: string[] }).requested_groups, ['operations']);
  });

  it('is told which argument is missing', async () => {
    const body = {} as { question: { group: string[] } };
    const { error, response } = await whatIsAvailable({ client, query, body });
    assert.equal(response?.status, 422);
    assert.equal(error?.code, 'invalid_arguments');
  });

  it('gets a problem when the tool fails', async () => {
    const { data, error, response } = await needsACredential({ client, query, body: {} });
    assert.equal(data, undefined);
    assert.equal(response?.status, 502);
    assert.equal(error?.code, 'upstream_auth');
    assert.equal(error?.upstream_status, 401);
  });

  it('repeats a call without running it again', async () => {
    const headers = { 'Idempotency-Key': 'typescript-1' };
    const first = await isReady({ client, query, headers, body: {}, throwOnError: true });
    const second = await isReady({ client, query, headers, body: {}, throwOnError: true });
    assert.equal(second.response.headers.get('Idempotency-Replayed'), 'true');
    assert.equal(second.response.headers.get('Toolgate-Call'), first.response.headers.get('Toolgate-Call'));
  });
});
