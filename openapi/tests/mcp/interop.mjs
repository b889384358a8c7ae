// A project as an MCP server, used by the official TypeScript clients in every mode that they have, and by the inspector's
// command line. It reports in TAP.
//
// `cargo xtask test --only mcp` makes the project with its workflow and its guide, and runs this file.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const packages = process.env.PACKAGES;
const key = process.env.TOOLGATE_AGENT_KEY;
const url = `${process.env.TOOLGATE_ADDRESS}/projects/mcp/mcp?group=operations`;
const authorization = `Bearer ${key}`;

const find = createRequire(path.join(packages, "package.json"));
const load = (name) => import(pathToFileURL(find.resolve(name)));
const run = promisify(execFile);

const LEGACY = ["is-ready", "begin"].sort();
const GUIDES = ["get_tool_guide", "list_tool_guides"];
const names = (listed) => listed.map(({ name }) => name).sort();

/** The client before revision 2026-07-28. */
async function earlier() {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
  const client = new Client({ name: "typescript-earlier", version: "1" });
  await client.connect(transport);
  return client;
}

/** The present client, in one of its modes. */
async function present(mode) {
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
  const client = new Client({ name: "typescript-present", version: "2" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

async function listsCallsAndReadsGuides(client) {
  try {
    const { tools } = await client.listTools();
    assert.deepEqual(names(tools), [...LEGACY, ...GUIDES].sort());
    const ready = await client.callTool({ name: "is-ready", arguments: {} });
    assert.deepEqual(ready.structuredContent, { status: "ok" });
    const wrong = await client.callTool({ name: "is-ready", arguments: { nothing: "like this" } });
    assert.equal(wrong.isError, true);
    assert.match(wrong.content[0].text, /^invalid_arguments: /);
    const { prompts } = await client.listPrompts();
    assert.deepEqual(names(prompts), ["operating"]);
    const prompt = await client.getPrompt({ name: "operating" });
    assert.match(prompt.messages[0].content.text, /# Operating/);
    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: resources[0].uri });
    assert.match(read.contents[0].text, /# Operating/);
    const guide = await client.callTool({ name: "get_tool_guide", arguments: { name: "operating" } });
    assert.match(guide.content[0].text, /# Operating/);
  } finally {
    await client.close();
  }
}

async function aWorkflowMoves(client) {
  try {
    const begun = await client.callTool({ name: "begin", arguments: {} });
    assert.notEqual(begun.isError, true);
    const { tools } = await client.listTools();
    assert.deepEqual(names(tools), ["finish", "is-ready", ...GUIDES].sort());
  } finally {
    await client.close();
  }
}

/** One command of the inspector; what it prints. */
async function inspector(era, ...args) {
  const { bin } = find("@modelcontextprotocol/inspector/package.json");
  const folder = path.dirname(find.resolve("@modelcontextprotocol/inspector/package.json"));
  const program = path.join(folder, bin["mcp-inspector"]);
  const server = ["--cli", url, "--transport", "http", "--header", `Authorization: ${authorization}`];
  const options = [...server, "--protocol-era", era, "--quiet"];
  const { stdout } = await run(process.execPath, [program, ...options, ...args], { cwd: packages, timeout: 60_000 });
  return JSON.parse(stdout);
}

async function theInspectorListsAndCalls(era) {
  const { tools } = await inspector(era, "--method", "tools/list", "--strict");
  assert.deepEqual(names(tools), [...LEGACY, ...GUIDES].sort());
  const called = await inspector(era, "--method", "tools/call", "--tool-name", "is-ready");
  assert.deepEqual(called.structuredContent, { status: "ok" });
  const { prompts } = await inspector(era, "--method", "prompts/list");
  assert.deepEqual(names(prompts), ["operating"]);
  const { resources } = await inspector(era, "--method", "resources/list");
  const read = await inspector(era, "--method", "resources/read", "--uri", resources[0].uri);
  assert.match(read.contents[0].text, /# Operating/);
}

const CHECKS = {
  "the earlier client lists, calls and reads guides": async () => listsCallsAndReadsGuides(await earlier()),
  "the earlier client follows a workflow": async () => aWorkflowMoves(await earlier()),
  "the present client in mode legacy": async () => listsCallsAndReadsGuides(await present("legacy")),
  "the present client in mode auto": async () => listsCallsAndReadsGuides(await present("auto")),
  "the present client pinned to 2026-07-28": async () => listsCallsAndReadsGuides(await present({ pin: "2026-07-28" })),
  "the present client follows a workflow": async () => aWorkflowMoves(await present("legacy")),
  "the inspector lists and calls in the era legacy": () => theInspectorListsAndCalls("legacy"),
  "the inspector lists and calls in the era auto": () => theInspectorListsAndCalls("auto"),
  "the inspector lists and calls in the era modern": () => theInspectorListsAndCalls("modern"),
};

console.log(`1..${Object.keys(CHECKS).length}`);
let failed = 0;
for (const [at, [name, check]] of Object.entries(CHECKS).entries()) {
  try {
    await check();
    console.log(`ok ${at + 1} - ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${at + 1} - ${name}`);
    console.log(String(error.stack ?? error).replace(/^/gm, "# "));
  }
}
process.exit(failed > 0 ? 1 : 0);
