// Starts the real server on a free port with a database of its own, and fills it through the API.
import { spawn } from 'node:child_process';
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
  /** Starts `TOOLGATE_BINARY serve` and returns when it listens. */
  static async start() {
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
    const { access_token: token } = await this.#send('POST', '/auth/login', {
      body: JSON.stringify(ADMIN),
      type: 'application/json',
    });
    this.token = token;
  }

  /** Creates a project. */
  async createProject(id, name) {
    await this.#send('POST', '/projects', { body: JSON.stringify({ id, name }), type: 'application/json' });
  }

  /** Uploads tools, written in YAML. */
  async uploadTools(project, yaml) {
    await this.#send('POST', `/projects/${project}/tools`, { body: yaml, type: 'application/yaml' });
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

  async #send(method, path, { body, type }) {
    const headers = { 'content-type': type };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    const response = await fetch(this.origin + path, { method, headers, body });
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    }
    return response.json();
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
