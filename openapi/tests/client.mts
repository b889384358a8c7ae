// The main job, done with the TypeScript client that is generated from the API document.
//
// `cargo xtask test --only clients` generates the client into `generated/`, compiles both strictly, starts a server,
// and runs the result with Node's test runner.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { createClient } from './generated/client/index.js';
import {
  callTool,
  createKey,
  createProject,
  getMe,
  listAuditRecords,
  listTools,
  login,
  resolveTools,
  uploadTools,
} from './generated/sdk.gen.js';
import type { CallResponse } from './generated/types.gen.js';

const baseUrl = required('TOOLGATE_ADDRESS');
const path = { project_id: 'typescript-client' };

const definition = `
name: is-ready
type: openapi
description: Ask whether the server is ready.
group: [operations]
state: checked
parameters: { type: object, properties: {} }
options:
  http: { base_url: "${baseUrl}", path: /readyz }
`;

function required(name: string): string {
  const value = process.env[name];
  assert(value, `${name} must be set`);
  return value;
}

/** A client that presents a token or key. */
function as(token: string) {
  return createClient({ baseUrl, auth: token });
}

describe('typescript client', () => {
  let admin: ReturnType<typeof as>;
  let agent: ReturnType<typeof as>;
  let call: CallResponse;

  before(async () => {
    const { data } = await login({
      client: createClient({ baseUrl }),
      body: { username: required('TOOLGATE_USERNAME'), password: required('TOOLGATE_PASSWORD') },
      throwOnError: true,
    });
    admin = as(data.access_token);
  });

  it('knows who it is', async () => {
    const { data } = await getMe({ client: admin, throwOnError: true });
    assert.equal(data.system_admin, true);
  });

  it('gets a problem for a wrong password', async () => {
    const { error } = await login({ client: createClient({ baseUrl }), body: { username: 'nobody', password: 'wrong' } });
    assert.equal(error?.code, 'unauthenticated');
  });

  it('creates a project', async () => {
    const { data } = await createProject({ client: admin, body: { id: path.project_id }, throwOnError: true });
    assert.equal(data.id, path.project_id);
  });

  it('uploads a tool as YAML', async () => {
    const { data } = await uploadTools({ client: admin, path, body: { yaml: definition }, throwOnError: true });
    assert.deepEqual(data.items.map((item) => item.outcome), ['created']);
  });

  it('gets every fault of a definition with its place', async () => {
    const faulty = definition.replace('group:', 'grup:').replace('state: checked', 'state: [checked]');
    const { error } = await uploadTools({ client: admin, path, body: { yaml: faulty } });
    assert.equal(error?.code, 'invalid_definition');
    assert(error.errors && error.errors.length >= 2, JSON.stringify(error.errors));
    assert(error.errors.every((fault) => typeof fault.line === 'number'), JSON.stringify(error.errors));
  });

  it('creates a key for an agent', async () => {
    const { data } = await createKey({
      client: admin,
      path,
      body: { name: 'typescript agent', role: 'agent', groups: ['operations'] },
      throwOnError: true,
    });
    assert.match(data.secret, /^tgk_/);
    agent = as(data.secret);
  });

  it('resolves what is available', async () => {
    const { data } = await resolveTools({ client: agent, path, body: { group: ['operations'] }, throwOnError: true });
    assert.deepEqual(data.available, ['is-ready']);
  });

  it('keeps no groups and an empty list apart', async () => {
    const nothing = await resolveTools({ client: agent, path, body: { group: [] }, throwOnError: true });
    assert.deepEqual(nothing.data.available, []);
    const standard = await resolveTools({ client: agent, path, body: {} });
    assert.equal(standard.error?.code, 'insufficient_tool_groups');
  });

  it('lists the tool without its inner workings', async () => {
    const { data } = await listTools({ client: agent, path, throwOnError: true });
    assert.deepEqual(data.items.map((tool) => tool.name), ['is-ready']);
    assert.equal(data.items[0]?.definition, undefined);
  });

  it('calls the tool', async () => {
    const body = { tool: 'is-ready', arguments: {}, group: ['operations'] };
    const { data } = await callTool({ client: agent, path, body, throwOnError: true });
    assert.equal(data.status, 'succeeded');
    assert.deepEqual(data.state, { before: 'undefined', after: 'checked' });
    call = data;
  });

  it('reads the record of the call', async () => {
    const { data } = await listAuditRecords({ client: admin, path, query: { id: call.call_id }, throwOnError: true });
    assert.equal(data.items.length, 1);
    assert.equal(data.items[0]?.outcome, 'succeeded');
    assert.equal(data.items[0]?.principal_name, 'typescript agent');
  });
});
