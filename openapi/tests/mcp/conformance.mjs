// The official conformance suite, server side, against a project as an MCP server. It reports in TAP.
//
// `cargo xtask test --only mcp` makes the project and runs this file. Behind the project is a server with the suite's own tools,
// prompts and resources (`conformance-upstream.mjs`), so that the suite sees them through Toolgate. The suite sends no credential and
// knows the addresses of its resources, so a proxy adds the one and writes the others as the project lists them.

import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { listen } from "./conformance-upstream.mjs";

const target = new URL(process.env.TOOLGATE_URL);
const key = process.env.TOOLGATE_AGENT_KEY;
const packages = process.env.PACKAGES;
const find = createRequire(path.resolve(packages, "package.json"));
const load = (name) => import(pathToFileURL(find.resolve(name)));

// Every scenario of the suite except those below.
const EVERY = [
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-error",
  "tools-call-with-progress",
  "json-schema-2020-12",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
  "completion-complete",
  "prompts-list",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
  "resources-list",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
];
const SCENARIOS = {
  "2025-11-25": [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    ...EVERY,
  ],
  "2026-07-28": [
    "server-stateless",
    "caching",
    "http-header-validation",
    "http-custom-header-server-validation",
    "sep-2164-resource-not-found",
    "input-required-result-basic-elicitation",
    "input-required-result-request-state",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-result-type",
    "input-required-result-unsupported-methods",
    "input-required-result-tampered-state",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
    ...EVERY,
  ],
};

// Scenarios that a project cannot pass, and why.
const LEFT_OUT = {
  "tools-call-sampling": "sampling is refused: a server behind the gateway does not use the caller's model",
  "input-required-result-basic-sampling": "the same",
  "input-required-result-basic-list-roots": "roots are refused: a server behind the gateway does not see the caller's files",
  "input-required-result-multiple-input-requests": "a server of the revisions with sessions asks one question at a time",
  "input-required-result-capability-check": "its tool asks for sampling, too",
  "input-required-result-non-tool-request": "questions are passed on while a tool is called",
  "resources-subscribe": "subscriptions are not offered; lists that change are",
  "resources-unsubscribe": "the same",
  "server-sse-polling": "its tool closes the stream of a call; the answers of a gateway come in one stream",
  "tasks-*": "an extension that is not offered; calls that take time are, by REST",
  "sep-2640-*": "an extension (skills) that is not offered",
};

// Checks that a project cannot pass, and why.
const EXPECTED = {
  "sep-2322-elicitation-incomplete": "the suite wants a key of its own; a server of the revisions with sessions has none for its questions",
  "json-schema-2020-12-tool-found": "the suite's own tool keeps references, which model providers refuse",
  "sep-2575-server-rejects-undeclared-capability": "the suite's own tool needs sampling",
  "sep-2575-missing-capability-http-400": "the suite's own tool needs sampling",
};

// Puts the suite's server behind the project.
async function register() {
  const upstream = new URL(process.env.UPSTREAM_URL);
  const project = `${target.origin}${target.pathname.replace(/\/mcp$/, "")}`;
  const ask = async (at, body) => {
    const headers = { authorization: `Bearer ${process.env.TOOLGATE_TOKEN}`, "content-type": "application/json" };
    const answer = await fetch(project + at, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${at}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const listener = await listen(Number(upstream.port), load);
  const open = { group: ["operations"] };
  const definition = { url: upstream.href, prompts: open, resources: open };
  await ask("/mcp-servers", { mcpServers: { test: definition } });
  const report = await ask("/mcp-servers/test/refresh", {});
  const names = report.operations.map((one) => one.tool);
  await ask("/tool-changes", { select: { names }, change: { enabled: true, add_groups: ["operations"] } });
  return listener;
}

// The addresses of the suite's resources, as the project lists them.
const ADDRESS = /("uri":\s*")(?=test:\/\/)/g;

const proxy = http.createServer(async (request, response) => {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  const { "content-length": _, "transfer-encoding": __, ...headers } = request.headers;
  const name = headers["mcp-name"];
  if (name?.startsWith("test://")) headers["mcp-name"] = `toolgate://mcp/test/${name}`;
  const onward = http.request(
    {
      host: target.hostname,
      port: target.port,
      path: target.pathname + target.search,
      method: request.method,
      headers: { ...headers, authorization: `Bearer ${key}` },
    },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body.replace(ADDRESS, "$1toolgate://mcp/test/"));
});

function run(url, revision, scenario) {
  const suite = path.join(packages, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const options = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "--timeout", "15000"];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [suite, ...options], { cwd: packages });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    child.on("close", (code) => resolve({ code, output: output.replace(/\x1b\[[0-9;]*m/g, "") }));
  });
}

function judge({ code, output }) {
  const failures = [...output.matchAll(/\[([\w-]+)\s*\] FAILURE/g)].map((match) => match[1]);
  const successes = output.match(/\] SUCCESS/g) ?? [];
  const unexpected = failures.filter((check) => !(check in EXPECTED));
  return { ok: unexpected.length === 0 && (code === 0 || failures.length > 0) && successes.length > 0, failures };
}

proxy.listen(0, "127.0.0.1", async () => {
  const upstream = await register();
  const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
  const all = Object.entries(SCENARIOS).flatMap(([revision, names]) => names.map((name) => [revision, name]));
  console.log(`1..${all.length}`);
  let failed = 0;
  for (const [at, [revision, scenario]] of all.entries()) {
    const outcome = await run(url, revision, scenario);
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
  upstream.close();
  process.exit(failed > 0 ? 1 : 0);
});
