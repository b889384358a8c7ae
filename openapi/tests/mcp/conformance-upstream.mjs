// The server that the official conformance suite expects behind the project: its tools, prompts and resources, by the official SDK.
// `conformance.mjs` starts it. Toolgate puts the server's name before a prompt's, so the names here lack the `test_`.

import { randomUUID } from "node:crypto";
import http from "node:http";

// The smallest PNG and WAV.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const text = (text) => ({ content: [{ type: "text", text }] });
const strings = (...names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});

// What the tools of a call can use: the request's own notifications and questions.
const asks = (message, requestedSchema, then) => async (extra) => {
  const answer = await extra.elicit({ message, requestedSchema });
  return then(answer);
};
const completed = (answer) => text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
const NAME = ["What is your name?", strings("name")];
const CONFIRM = ["Please confirm", { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }];

const TOOLS = {
  test_simple_text: () => text("This is a simple text response for testing."),
  test_image_content: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({
    content: [{ type: "resource", resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "Embedded." } }],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "resource", resource: { uri: "test://mixed", mimeType: "application/json", text: '{"test":"data"}' } },
    ],
  }),
  test_tool_with_logging: async (extra) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await extra.notify("notifications/message", { level: "info", data });
      await pause(50);
    }
    return text("logged");
  },
  test_tool_with_progress: async (extra) => {
    for (const progress of [0, 50, 100]) {
      await extra.progress(progress, 100);
      await pause(50);
    }
    return text("done");
  },
  test_error_handling: () => ({ isError: true, ...text("This tool intentionally returns an error for testing") }),
  test_elicitation: async (extra, { message }) => {
    const properties = { username: { type: "string" }, email: { type: "string" } };
    const answer = await extra.elicit({ message, requestedSchema: { type: "object", properties, required: ["username", "email"] } });
    return text(`User response: ${JSON.stringify(answer)}`);
  },
  test_elicitation_sep1034_defaults: asks(
    "Defaults",
    {
      type: "object",
      properties: {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
    },
    completed,
  ),
  test_elicitation_sep1330_enums: asks(
    "Enums",
    {
      type: "object",
      properties: {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: {
          type: "string",
          oneOf: ["First", "Second", "Third"].map((name, at) => ({ const: `value${at + 1}`, title: `${name} Option` })),
        },
        legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: {
          type: "array",
          items: { anyOf: ["First", "Second", "Third"].map((name, at) => ({ const: `value${at + 1}`, title: `${name} Choice` })) },
        },
      },
    },
    completed,
  ),
  test_input_required_result_elicitation: asks(...NAME, (answer) => text(`Hello, ${answer.content?.name}!`)),
  test_input_required_result_request_state: asks(...CONFIRM, () => text("state-ok")),
  test_input_required_result_tampered_state: asks(...CONFIRM, () => text("state-ok")),
  test_input_required_result_multi_round: async (extra) => {
    const { content } = await extra.elicit({ message: "Step 1: What is your name?", requestedSchema: strings("name") });
    const second = await extra.elicit({ message: "Step 2: What is your favorite color?", requestedSchema: strings("color") });
    return text(`${content?.name} likes ${second.content?.color}`);
  },
  test_custom_headers: (_, { region }) => text(`in ${region}`),
};

const ARGUMENTS = {
  test_elicitation: strings("message"),
  test_custom_headers: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  },
};

const user = (content) => ({ messages: [{ role: "user", content }] });
const PROMPTS = {
  simple_prompt: () => user({ type: "text", text: "This is a simple prompt for testing." }),
  prompt_with_arguments: ({ arg1, arg2 }) => user({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  prompt_with_embedded_resource: ({ resourceUri }) =>
    user({ type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded." } }),
  prompt_with_image: () => user({ type: "image", data: PNG, mimeType: "image/png" }),
};
const PROMPT_ARGUMENTS = { prompt_with_arguments: ["arg1", "arg2"], prompt_with_embedded_resource: ["resourceUri"] };

function read(uri) {
  const template = /^test:\/\/template\/(\w+)\/data$/.exec(uri);
  if (template) {
    const data = { id: template[1], templateTest: true, data: `Data for ID: ${template[1]}` };
    return { uri, mimeType: "application/json", text: JSON.stringify(data) };
  }
  return {
    "test://static-text": { uri, mimeType: "text/plain", text: "This is the content of the static text resource." },
    "test://static-binary": { uri, mimeType: "image/png", blob: PNG },
  }[uri];
}

// A server for one session.
async function server(load) {
  const { Server } = await load("@modelcontextprotocol/sdk/server/index.js");
  const schemas = await load("@modelcontextprotocol/sdk/types.js");
  const capabilities = { tools: {}, prompts: {}, resources: {}, logging: {}, completions: {} };
  const server = new Server({ name: "suite", version: "1" }, { capabilities });
  server.setRequestHandler(schemas.ListToolsRequestSchema, () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: `The tool ${name} of the suite.`,
      inputSchema: ARGUMENTS[name] ?? { type: "object", properties: {} },
    })),
  }));
  server.setRequestHandler(schemas.CallToolRequestSchema, ({ params }, extra) => {
    const progressToken = params._meta?.progressToken;
    const notify = (method, params) => extra.sendNotification({ method, params });
    return TOOLS[params.name](
      {
        notify,
        progress: async (progress, total) => {
          if (progressToken !== undefined) await notify("notifications/progress", { progressToken, progress, total });
        },
        elicit: (params) => extra.sendRequest({ method: "elicitation/create", params }, schemas.ElicitResultSchema),
      },
      params.arguments ?? {},
    );
  });
  server.setRequestHandler(schemas.ListPromptsRequestSchema, () => ({
    prompts: Object.keys(PROMPTS).map((name) => ({
      name,
      description: `The prompt ${name} of the suite.`,
      arguments: (PROMPT_ARGUMENTS[name] ?? []).map((name) => ({ name, description: name, required: true })),
    })),
  }));
  server.setRequestHandler(schemas.GetPromptRequestSchema, ({ params }) => PROMPTS[params.name](params.arguments ?? {}));
  server.setRequestHandler(schemas.CompleteRequestSchema, ({ params }) => {
    const values = ["paris", "park", "party"].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  server.setRequestHandler(schemas.ListResourcesRequestSchema, () => ({
    resources: [
      { uri: "test://static-text", name: "static-text", description: "A text.", mimeType: "text/plain" },
      { uri: "test://static-binary", name: "static-binary", description: "An image.", mimeType: "image/png" },
    ],
  }));
  server.setRequestHandler(schemas.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }));
  server.setRequestHandler(schemas.ReadResourceRequestSchema, ({ params }) => {
    const found = read(params.uri);
    if (!found) throw new schemas.McpError(schemas.ErrorCode.InvalidParams, "Resource not found", { uri: params.uri });
    return { contents: [found] };
  });
  server.setRequestHandler(schemas.SetLevelRequestSchema, () => ({}));
  return server;
}

// Listens on a port of loopback; `load` imports a module of the packages.
export async function listen(port, load) {
  const { StreamableHTTPServerTransport } = await load("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const sessions = new Map();
  const listener = http.createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end();
    let transport = sessions.get(id);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await (await server(load)).connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  await new Promise((resolve, reject) => listener.once("error", reject).listen(port, "127.0.0.1", resolve));
  return listener;
}
