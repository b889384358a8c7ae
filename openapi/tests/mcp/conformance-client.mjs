// The official conformance suite, client side: Toolgate connects to the suite's servers as an upstream. It reports in TAP.
//
// `cargo xtask test --only mcp` runs this file. It starts a server of its own, because what may be reached is a setting. The suite
// starts a server on a free port for each scenario and runs a command with its address: this file again, which forwards the one
// address that may be reached to that server, registers it as an MCP server of a project, imports its tools and calls them.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const find = createRequire(path.resolve(process.env.PACKAGES, "package.json"));
const load = (name) => import(pathToFileURL(find.resolve(name)));

const PASSWORD = "correct horse battery staple";

const BOTH = ["tools_call", "json-schema-2020-12-preservation"];
const SCENARIOS = {
  "2025-11-25": ["initialize", "sse-retry", "elicitation-sep1034-client-defaults", ...BOTH],
  "2026-07-28": [
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "sep-2322-client-request-state",
    ...BOTH,
  ],
};

// Scenarios that do not apply, and why.
const LEFT_OUT = {
  "auth/*": "an administrator writes the addresses of a provider, and persons connect accounts in a browser: tests of accounts have them",
  "sep-2640-*": "an extension (skills) that is not offered",
};

// Checks that a gateway cannot pass, and why.
const EXPECTED = {};

async function ask(address, token, method, at, body, headers = {}) {
  const answer = await fetch(address + at, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : {};
}

// What to call: what the suite says, or every tool once. A tool that takes a schema is one that wants the schema of the other one
// back, as it arrived here.
function calls(context, tools) {
  if (context.toolCalls) return context.toolCalls;
  const echo = tools.find((tool) => tool.parameters.properties?.schema);
  if (echo) {
    const other = tools.find((tool) => tool !== echo);
    return [{ name: echo.id, arguments: { schema: other.parameters } }];
  }
  return tools.map((tool) => {
    const parameters = Object.entries(tool.parameters.properties ?? {});
    return { name: tool.id, arguments: Object.fromEntries(parameters.map(([key, schema]) => [key, sample(schema)])) };
  });
}

function sample(schema) {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  return { number: 2, integer: 2, boolean: true, array: [], object: {} }[schema.type] ?? "text";
}

// An agent whose user accepts what a server asks, with the defaults.
async function client(url, token) {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const elicitation = { form: { applyDefaults: true } };
  const agent = new Client({ name: "suite", version: "1" }, { capabilities: { elicitation } });
  agent.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: {} }));
  await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return agent;
}

// The command: what a user of Toolgate would do with the server at that address.
async function drive(url) {
  const target = new URL(url);
  const address = process.env.TOOLGATE_ADDRESS;
  const token = process.env.TOOLGATE_TOKEN;
  const port = Number(process.env.FORWARD_PORT);
  const forward = net.createServer((client) => {
    const server = net.connect(Number(target.port), target.hostname);
    client.on("error", () => server.destroy());
    server.on("error", () => client.destroy());
    client.pipe(server).pipe(client);
  });
  await new Promise((resolve, reject) => forward.once("error", reject).listen(port, "127.0.0.1", resolve));
  // One of its own, so that no scenario meets what another one left.
  const id = `suite-${process.pid}`;
  const project = `/projects/${id}`;
  const server = `${project}/mcp-servers/conformance`;
  try {
    const definition = { url: `http://127.0.0.1:${port}${target.pathname}${target.search}`, timeout_ms: 20000 };
    await ask(address, token, "POST", "/projects", { id });
    await ask(address, token, "POST", `${project}/mcp-servers`, { mcpServers: { conformance: definition } });
    const report = await ask(address, token, "POST", `${server}/refresh`, {});
    const names = report.operations.filter((one) => one.outcome === "new").map((one) => one.tool);
    if (names.length > 0) {
      const enable = { select: { names }, change: { enabled: true } };
      await ask(address, token, "POST", `${project}/tool-changes`, enable);
    }
    const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
    const tools = [];
    for (const name of names) {
      const { definition } = await ask(address, token, "GET", `${project}/tools/${name}`);
      tools.push({ name, id: definition.mcp_tool_id ?? name, parameters: definition.parameters ?? {} });
    }
    const agent = await client(new URL(`${address}${project}/mcp`), token);
    for (const call of calls(context, tools)) {
      const tool = tools.find((tool) => tool.id === call.name);
      if (!tool) continue;
      const answer = await agent.callTool({ name: tool.name, arguments: call.arguments });
      console.log(tool.name, JSON.stringify(answer));
    }
    await agent.close();
    await ask(address, token, "DELETE", server, undefined, { "if-match": "*" });
  } finally {
    forward.close();
  }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function run(environment, revision, scenario, folder) {
  const suite = path.join(process.env.PACKAGES, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const command = `${process.execPath} ${process.argv[1]} drive`;
  const options = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [suite, ...options, "--timeout", "180000", "--verbose"], {
      cwd: folder,
      env: { ...process.env, ...environment },
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    child.on("close", (code) => resolve({ code, output: output.replace(/\x1b\[[0-9;]*m/g, "") }));
  });
}

function judge({ code, output }) {
  const failures = [...output.matchAll(/\[([\w.-]+)\s*\] FAILURE/g)].map((match) => match[1]);
  const successes = output.match(/\] SUCCESS|"status": "SUCCESS"/g) ?? [];
  const unexpected = failures.filter((check) => !(check in EXPECTED));
  return { ok: unexpected.length === 0 && (code === 0 || failures.length > 0) && successes.length > 0, failures };
}

async function main() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "toolgate-suite-"));
  const [port, forward] = [await freePort(), await freePort()];
  const address = `http://127.0.0.1:${port}`;
  const server = spawn(process.env.TOOLGATE_BINARY, ["serve"], {
    env: {
      PATH: process.env.PATH,
      TOOLGATE_DATABASE_URL: `sqlite:${folder}/toolgate.db`,
      TOOLGATE_LISTEN: `127.0.0.1:${port}`,
      TOOLGATE_ADMIN_PASSWORD: PASSWORD,
      TOOLGATE_EGRESS_ALLOW: `http://127.0.0.1:${forward}`,
      TOOLGATE_LOG: "error",
    },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => server.once("close", resolve));
  let failed = 0;
  try {
    let token;
    for (let attempt = 0; !token; attempt += 1) {
      const login = { username: "admin", password: PASSWORD };
      token = await ask(address, null, "POST", "/auth/login", login).then(
        (answer) => answer.access_token,
        (error) => {
          if (attempt > 100) throw error;
        },
      );
      if (!token) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const environment = { TOOLGATE_ADDRESS: address, TOOLGATE_TOKEN: token, FORWARD_PORT: String(forward) };
    const all = Object.entries(SCENARIOS).flatMap(([revision, names]) => names.map((name) => [revision, name]));
    console.log(`1..${all.length}`);
    for (const [at, [revision, scenario]] of all.entries()) {
      const outcome = await run(environment, revision, scenario, folder);
      const { ok, failures } = judge(outcome);
      console.log(`${ok ? "ok" : "not ok"} ${at + 1} - ${revision} ${scenario}`);
      for (const check of failures.filter((check) => check in EXPECTED)) {
        console.log(`# expected: ${check}: ${EXPECTED[check]}`);
      }
      if (!ok) {
        failed += 1;
        console.log(outcome.output.replace(/^/gm, "# "));
      }
    }
    for (const [scenario, why] of Object.entries(LEFT_OUT)) console.log(`# left out: ${scenario}: ${why}`);
  } finally {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  return failed > 0 ? 1 : 0;
}

if (process.argv[2] === "drive") {
  await drive(process.argv[3]);
  // Its connections are kept open for seconds, and the suite would wait for them.
  process.exit();
} else {
  process.exit(await main());
}
