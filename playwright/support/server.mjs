// Starts the real server on a free port with a database of its own, and fills it through the API.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const START_MS = 60_000;
const STOP_MS = 40_000;

export const ADMIN = { username: 'admin', password: 'opens the gate 42' };

/** A running server with its folder. Stop it when done. */
export class Server {
  /** Starts `TOOLGATE_BINARY serve` with further variables, and returns when it listens. */
  static async start(env = {}) {
    const binary = process.env.TOOLGATE_BINARY ?? process.env.TOOLGATE_BIN;
    if (!binary) {
      throw new Error('set TOOLGATE_BINARY to a server that was built with the feature `embed-ui`');
    }
    const folder = await mkdtemp(join(tmpdir(), 'toolgate-browser-'));
    const child = spawn(resolve(binary), ['serve'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        TOOLGATE_LISTEN: '127.0.0.1:0',
        TOOLGATE_DATABASE_URL: `sqlite:${join(folder, 'toolgate.db')}`,
        TOOLGATE_ADMIN_USERNAME: ADMIN.username,
        TOOLGATE_ADMIN_PASSWORD: ADMIN.password,
        TOOLGATE_SECRETS_KEY: randomBytes(32).toString('base64'),
        ...env,
      },
    });
    const server = new Server(child, folder);
    server.origin = await server.#listening();
    return server;
  }

  constructor(child, folder) {
    this.child = child;
    this.folder = folder;
    this.log = [];
  }

  /** Signs in for the API. */
  async signIn() {
    this.token = (await this.post('/auth/login', ADMIN)).access_token;
  }

  /** Creates a project. */
  createProject(id, name) {
    return this.post('/projects', { id, name });
  }

  /** Uploads tools, written in YAML. */
  uploadTools(project, yaml) {
    return this.#accepted('POST', `/projects/${project}/tools`, { body: yaml, type: 'application/yaml' });
  }

  /** Imports a description, written in JSON; the first time, or again. */
  importDescription(project, id, text, { again = false } = {}) {
    const headers = again ? { 'if-match': '*' } : { 'if-none-match': '*' };
    return this.#accepted('PUT', `/projects/${project}/imports/${id}`, { body: text, headers });
  }

  /** Makes a service key; the answer has its `secret`. */
  createKey(project, name, groups, role = 'agent') {
    return this.post(`/projects/${project}/keys`, { name, role, groups });
  }

  /** Calls a tool; refusals are answers too. */
  call(project, token, request) {
    return this.ask('POST', `/projects/${project}/calls`, { body: request, token });
  }

  /** Reads, and fails on anything but success. */
  get(path) {
    return this.#accepted('GET', path, {});
  }

  /** Posts JSON, and fails on anything but success. */
  post(path, body) {
    return this.#accepted('POST', path, { body });
  }

  /** Puts JSON over whatever is there, and fails on anything but success. */
  put(path, body, condition = { 'if-match': '*' }) {
    return this.#accepted('PUT', path, { body, headers: condition });
  }

  /** Asks anything as the holder of `token`, the administrator by default; any answer is returned. */
  async ask(method, path, { body, type = 'application/json', token = this.token, headers = {} } = {}) {
    const sent = { ...headers };
    if (token) sent.authorization = `Bearer ${token}`;
    if (body !== undefined) sent['content-type'] = type;
    const response = await fetch(this.origin + path, {
      method,
      headers: sent,
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  /** Asks the server to end, waits until it has, and removes its folder. */
  async stop() {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      const limit = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(limit);
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  #listening() {
    return new Promise((listening, reject) => {
      const said = () => `it said:\n${this.log.join('\n')}`;
      const limit = setTimeout(() => reject(new Error(`the server does not listen; ${said()}`)), START_MS);
      this.child.once('error', reject);
      this.child.once('exit', (code) => reject(new Error(`the server ended with ${code}; ${said()}`)));
      for (const stream of [this.child.stdout, this.child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          this.log.push(line);
          const origin = /listening on (http:\/\/\S+)/.exec(line)?.[1];
          if (origin) {
            clearTimeout(limit);
            listening(origin.replace(/\/$/, ''));
          }
        });
      }
    });
  }

  async #accepted(method, path, options) {
    const { status, body } = await this.ask(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
}

/** What the tests see in the project `demo`. */
export const TOOLS = `
tool_name: read-page
description: Reads a web page and returns its main content as Markdown.
group: [knowledge]
parameters:
  type: object
  properties:
    url: { type: string, description: The address of the page. }
  required: [url]
options:
  jina: { mode: reader }
---
tool_name: search-web
description: Searches the web and returns the best results with their summaries.
group: [knowledge, research]
available_in_states: [research]
state: analysis
parameters:
  type: object
  properties:
    q: { type: string, description: What to search for. }
  required: [q]
options:
  jina: { mode: search }
---
tool_name: weather-of-the-north-atlantic-shipping-areas
description: Forecast for one shipping area.
group: []
available_in_states: []
parameters:
  type: object
  properties:
    area: { type: string, description: The shipping area. }
  required: [area]
options:
  http: { base_url: "https://weather.example", path: "/areas/{area}" }
`;

/** A server with two projects: `demo` has tools, `blank` has none. */
export async function startSeeded() {
  const server = await Server.start();
  try {
    await server.signIn();
    await server.createProject('demo', 'Demonstration');
    await server.createProject('blank', 'Blank page');
    await server.uploadTools('demo', TOOLS);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}
