/**
 * What providers bill beside tokens: sent on the platform's credential where the endpoint has a price for it, else left out with a
 * warning, or refused in strict mode. On an org's own key all of it passes.
 */
import { describe, expect, test } from "vitest";
import {
  ask,
  type DialectName,
  type FormatName,
  FUNCTION,
  gateway,
  isStreamed,
  type Json,
  REFUSED,
  server,
  startExtras,
  toldOf,
  tool,
} from "./fixtures.ts";

startExtras();

const UNPRICED: readonly (readonly [FormatName & DialectName, string, Json, string])[] = [
  ["chat", "a tier", { service_tier: "priority" }, "service_tier"],
  ["chat", "an unknown tier", { service_tier: "warp" }, "service_tier"],
  ["chat", "a tier that is no word", { service_tier: ["priority"] }, "service_tier"],
  ["chat", "a search", { web_search_options: {} }, "web_search_options"],
  ["chat", "OpenRouter's plugins", { plugins: [{ id: "web" }] }, "plugins"],
  ["chat", "xAI's live search", { search_parameters: { mode: "on" } }, "search_parameters"],
  ["chat", "a spoken answer", { modalities: ["text", "audio"], audio: { voice: "alloy" } }, "modalities"],
  ["chat", "an unknown tool", tool("teleport"), "tools"],
  ["responses", "a tier", { service_tier: "priority" }, "service_tier"],
  ["responses", "a search", tool("web_search"), "tools"],
  ["responses", "a dated search", tool("web_search_preview_2025_03_11"), "tools"],
  ["responses", "code", tool("code_interpreter", { container: { type: "auto" } }), "tools"],
  ["responses", "images", tool("image_generation"), "tools"],
  ["responses", "files", tool("file_search", { vector_store_ids: ["vs_1"] }), "tools"],
  ["responses", "a server of tools", tool("mcp", { server_label: "m", server_url: "https://e" }), "tools"],
  ["responses", "a hosted shell", tool("shell", { environment: { type: "container_auto" } }), "tools"],
  [
    "responses",
    "a namespace that holds a search",
    tool("namespace", { tools: [{ type: "web_search" }] }),
    "tools",
  ],
  ["responses", "an unknown tool", tool("teleport"), "tools"],
  ["messages", "a search", tool("web_search_20250305", { name: "web_search", max_uses: 10 }), "tools"],
  ["messages", "a later search", tool("web_search_20991231", { name: "web_search" }), "tools"],
  ["messages", "code", tool("code_execution_20260120", { name: "code_execution" }), "tools"],
  ["messages", "an unknown tool", tool("teleport_20260101", { name: "teleport" }), "tools"],
  ["messages", "a speed", { speed: "fast" }, "speed"],
  ["messages", "a place", { inference_geo: "us" }, "inference_geo"],
  [
    "messages",
    "servers of tools",
    { mcp_servers: [{ type: "url", url: "https://e", name: "m" }] },
    "mcp_servers",
  ],
  ["messages", "a container", { container: { skills: [] } }, "container"],
];

describe.each(isStreamed)("%s, without a price", (_, stream) => {
  test.each(UNPRICED)(
    "S3: %s: %s is left out with a warning, and nothing fails",
    async (format, _, members, name) => {
      const answer = await ask(format, `plain-${format}`, { ...members, ...stream });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.sent).not.toHaveProperty(name);
      const { warnings } = toldOf(answer);
      expect(warnings.some((warning) => warning.startsWith(`dropped: /${name}`))).toBe(true);
      expect(warnings.some((warning) => warning.startsWith("no_price: "))).toBe(true);
    },
  );
});

test.each(UNPRICED)(
  "S3: %s: %s is refused in strict mode before the upstream",
  async (format, _, members, name) => {
    const answer = await ask(format, `plain-${format}`, members, { svc: { compat: { strict: true } } });
    expect([answer.status, answer.calls], answer.text).toEqual([400, 0]);
    expect(answer.text).toContain(`/${name}`);
  },
);

test.each(UNPRICED.filter(([format]) => format === "chat"))(
  "S3: %s: %s passes on an org's own key",
  async (format, _, members, name) => {
    const answer = await ask(format, `own-${format}`, members);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.sent).toMatchObject({ [name]: members[name] });
    expect(toldOf(answer).warnings).toEqual([]);
  },
);

test("S3: after a refused key of the org's own the platform's gets a body of its own", async () => {
  const key = { provider: "mixed-chat", credential: REFUSED, platform_fallback: true };
  const added = await gateway.call("POST", "/v1/provider-keys", { body: key });
  expect(added.status, added.text).toBe(201);
  server.asked.length = 0;
  const answer = await ask("chat", "mixed-chat", { service_tier: "priority" });
  expect(answer.status, answer.text).toBe(200);
  expect(server.asked.map(({ body }) => JSON.parse(body).service_tier)).toEqual(["priority", undefined]);
  expect(toldOf(answer).warnings).toContain("dropped: /service_tier");
});

test.each<readonly [FormatName & DialectName, Json]>([
  ["chat", { service_tier: "auto", tools: [{ type: "function", function: { name: "f" } }], my_member: 1 }],
  ["responses", { service_tier: "default", tools: [FUNCTION, { type: "custom", name: "c" }] }],
  ["messages", { service_tier: "standard_only", speed: "standard", inference_geo: "global" }],
])(
  "S3: %s: what costs nothing passes, and so do members that the table does not list",
  async (format, members) => {
    const answer = await ask(format, `plain-${format}`, members);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.sent).toMatchObject(members);
    expect(toldOf(answer).warnings).toEqual([]);
  },
);

describe("what refers to a tool that is left out goes with it", () => {
  const search = { type: "web_search" };
  test.each<readonly [string, FormatName & DialectName, Json, Json]>([
    ["a choice", "responses", { tools: [FUNCTION, search], tool_choice: search }, { tools: [FUNCTION] }],
    [
      "an element of a choice",
      "responses",
      {
        tools: [search, FUNCTION],
        tool_choice: {
          type: "allowed_tools",
          mode: "auto",
          tools: [search, { type: "function", name: "f" }],
        },
      },
      {
        tools: [FUNCTION],
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
      },
    ],
    [
      "what only it can include",
      "responses",
      {
        tools: [FUNCTION, search],
        include: ["web_search_call.action.sources", "reasoning.encrypted_content"],
      },
      { tools: [FUNCTION], include: ["reasoning.encrypted_content"] },
    ],
    ["all of it", "responses", { tools: [search], tool_choice: "required", parallel_tool_calls: true }, {}],
    [
      "a choice by name",
      "messages",
      {
        tools: [
          { name: "g", input_schema: { type: "object" } },
          { type: "web_search_20250305", name: "web_search" },
        ],
        tool_choice: { type: "tool", name: "web_search" },
      },
      { tools: [{ name: "g", input_schema: { type: "object" } }] },
    ],
  ])("S3: %s of %s", async (_, format, members, kept) => {
    const answer = await ask(format, `plain-${format}`, members);
    expect(answer.status, answer.text).toBe(200);
    const { tools, tool_choice, include, parallel_tool_calls } = answer.sent;
    const sent = Object.entries({ tools, tool_choice, include, parallel_tool_calls });
    expect(Object.fromEntries(sent.filter(([, value]) => value !== undefined))).toEqual(kept);
  });
});

describe("headers", () => {
  const SEVEN = [
    "claude-code-20250219",
    "interleaved-thinking-2025-05-14",
    "fine-grained-tool-streaming-2025-05-14",
    "context-management-2025-06-27",
    "prompt-caching-scope-2026-01-05",
    "effort-2025-11-24",
    "structured-outputs-2025-12-15",
  ].join(",");
  const PAID = "fast-mode-2026-02-01, context-1m-2025-08-07,unheard-of-2027-01-01";

  test("S3: betas that cost nothing pass; others only on an org's own key", async () => {
    const headers = { "anthropic-beta": `${SEVEN},${PAID}` };
    const plain = await ask("messages", "plain-messages", {}, { headers });
    expect(plain.sentHeaders["anthropic-beta"]).toBe(SEVEN);
    expect(toldOf(plain).warnings).toContain("dropped: anthropic-beta: context-1m-2025-08-07");
    const own = await ask("messages", "own-messages", {}, { headers });
    expect(own.sentHeaders["anthropic-beta"]).toBe(headers["anthropic-beta"]);
    const priced = await ask("messages", "priced-messages", { speed: "fast" }, { headers });
    expect(priced.sentHeaders["anthropic-beta"]).toBe(`${SEVEN},fast-mode-2026-02-01`);
    expect(priced.sent.speed).toBe("fast");
    const strict = { svc: { compat: { strict: true } } };
    const refused = await ask("messages", "plain-messages", {}, { headers, ...strict });
    expect([refused.status, refused.calls]).toEqual([400, 0]);
    const free = await ask(
      "messages",
      "plain-messages",
      {},
      { headers: { "anthropic-beta": SEVEN }, ...strict },
    );
    expect(free.status, free.text).toBe(200);
  });

  test("S3: a body's betas are those of a header, and an unknown one of OpenAI's is left out", async () => {
    const members = { anthropic_beta: ["context-1m-2025-08-07"] };
    expect((await ask("messages", "plain-messages", members)).sent).not.toHaveProperty("anthropic_beta");
    const headers = { "openai-beta": "responses=experimental,turbo=v9" };
    const answer = await ask("responses", "plain-responses", {}, { headers });
    expect(answer.sentHeaders["openai-beta"]).toBe("responses=experimental");
  });
});

test("S3: members that the table does not list are counted, by few and plain names", async () => {
  await ask("chat", "plain-chat", { my_own_member: 1, "a b": 2 });
  const { text } = await gateway.call("GET", "/metrics");
  expect(text).toMatch(/^weir_unlisted_members_total\{member="my_own_member"\} \d+$/m);
  expect(text).toMatch(/^weir_unlisted_members_total\{member="\(others\)"\} \d+$/m);
});
