// A message bus: the real NATS server, with JetStream, on a free port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, headers } from '@nats-io/transport-node';

const START_MS = 30_000;

/** Where `cargo xtask test` installs it. */
function program() {
  const installed = resolve(import.meta.dirname, '../../target/tools/nats/bin/nats-server');
  return process.env.TOOLGATE_NATS_SERVER ?? (existsSync(installed) ? installed : 'nats-server');
}

/** A running server with a client's connection. Stop it when done. */
export class Nats {
  static async start() {
    const folder = await mkdtemp(join(tmpdir(), 'toolgate-nats-'));
    const child = spawn(program(), ['--addr', '127.0.0.1', '--port', '-1', '--jetstream', '--store_dir', folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const nats = new Nats(child, folder);
    try {
      nats.url = `nats://${await nats.#listening()}`;
      nats.client = await connect({ servers: nats.url });
    } catch (error) {
      await nats.stop();
      throw error;
    }
    return nats;
  }

  constructor(child, folder) {
    this.child = child;
    this.folder = folder;
  }

  /** Publishes a text with headers, and returns when the server has it. */
  async publish(subject, text, said = {}) {
    const sent = headers();
    for (const [name, value] of Object.entries(said)) sent.set(name, value);
    this.client.publish(subject, text, { headers: sent });
    await this.client.flush();
  }

  /** How many consumers a stream has; 0 without the stream. */
  async consumers(stream) {
    const answer = await this.client.request(`$JS.API.STREAM.INFO.${stream}`);
    return answer.json().state?.consumer_count ?? 0;
  }

  /** The messages of a subject from now on. */
  async listen(subject) {
    const messages = this.client.subscribe(subject)[Symbol.asyncIterator]();
    await this.client.flush();
    return { next: async () => (await messages.next()).value };
  }

  async stop() {
    await this.client?.close();
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  #listening() {
    return new Promise((listening, reject) => {
      const said = [];
      const limit = setTimeout(() => reject(new Error(`nats-server does not listen:\n${said.join('\n')}`)), START_MS);
      this.child.once('error', reject);
      this.child.once('exit', (code) => reject(new Error(`nats-server ended with ${code}:\n${said.join('\n')}`)));
      let place;
      createInterface({ input: this.child.stderr }).on('line', (line) => {
        said.push(line);
        place = /Listening for client connections on (\S+)/.exec(line)?.[1] ?? place;
        if (place && /Server is ready/.test(line)) {
          clearTimeout(limit);
          listening(place);
        }
      });
    });
  }
}
