// The official conformance suite, server side, against a project as an MCP server. It reports in TAP.
//
// `cargo xtask test --only mcp` makes the project and runs this file. The suite sends no credential, so a proxy adds it. Its
// scenarios are those about the protocol itself and about tools; the others need what a project does not offer: the suite's
// own prompts and resources, sampling, elicitation, completion and tasks.

import { spawn } from "node:child_process";
import http from "node:http";
import path from "node:path";

const target = new URL(process.env.TOOLGATE_URL);
const key = process.env.TOOLGATE_AGENT_KEY;
const packages = process.env.PACKAGES;

const TOOLS = ["tools-list", "tools-call-error", "tools-call-with-progress"];
const BOTH = [...TOOLS, "json-schema-2020-12", "server-sse-multiple-streams", "dns-rebinding-protection"];
const SCENARIOS = {
  "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping", "logging-set-level", ...BOTH],
  "2026-07-28": [
    "server-stateless",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "sep-2164-resource-not-found",
    ...BOTH,
  ],
};

// Checks that a project cannot pass, and why.
const EXPECTED = {
  "tools-call-with-progress": "the suite's own tool reports three steps; a gateway knows only that the call is running",
  "json-schema-2020-12-tool-found": "the suite's own tool keeps references, which model providers refuse",
  "sep-2575-server-rejects-undeclared-capability": "the suite's own tool needs sampling",
  "sep-2575-missing-capability-http-400": "the suite's own tool needs sampling",
};

const proxy = http.createServer((request, response) => {
  const onward = http.request(
    {
      host: target.hostname,
      port: target.port,
      path: target.pathname + target.search,
      method: request.method,
      headers: { ...request.headers, authorization: `Bearer ${key}` },
    },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
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
  process.exit(failed > 0 ? 1 : 0);
});
