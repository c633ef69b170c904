/**
 * What providers bill beside tokens: sent on the platform's credential where the endpoint has a price for it, held and charged as
 * lines; else left out with a warning, or refused in strict mode. On an org's own key all of it passes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestEndpoint, type TestGateway, testGateway } from "../fixtures.ts";

type Json = Record<string, unknown>;

const PRICE = {
  input: 1,
  output: 2,
  cache_read: 0.5,
  tiers: {
    priority: { input: 10, output: 20, cache_read: 5 },
    flex: { input: 0.5, output: 1 },
    fast: { input: 6, output: 12 },
    us: { input: 1.1, output: 2.2 },
    "fast+us": { input: 6.6, output: 13.2 },
  },
  server_tools: {
    web_search: 10,
    web_fetch: 0,
    code_interpreter: 30,
    code_execution: 50,
    web_search_options: 25,
  },
};
const PLAIN = { input: 1, output: 2 };

const at = (
  provider: string,
  dialect: string,
  price: object,
  more: Partial<TestEndpoint> = {},
): TestEndpoint => ({
  provider,
  dialects: [dialect],
  entry: { price, context: 50_000, max_output: 4_000 },
  ...more,
});

const DIALECTS = ["chat", "responses", "messages", "converse", "gemini"] as const;
type DialectName = (typeof DIALECTS)[number];

/** Its only credential is the org's. */
const own = { isReal: true, credentialEnv: "EXTRAS_TEST_NEVER_SET" };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: DIALECTS.flatMap((dialect) => [
      at(`plain-${dialect}`, dialect, PLAIN),
      at(`priced-${dialect}`, dialect, PRICE),
      at(`own-${dialect}`, dialect, PLAIN, own),
    ]),
  });
  for (const dialect of DIALECTS) {
    const body = { provider: `own-${dialect}`, credential: "sk-own-0123456789abcdef" };
    const added = await gateway.call("POST", "/v1/provider-keys", { body });
    expect(added.status, added.text).toBe(201);
  }
});
afterAll(() => gateway.stop());

interface Format {
  readonly path: string;
  readonly body: Json;
}

const turns = (text: string) => [{ role: "user", content: text }];
const FORMATS = {
  chat: (text: string): Format => ({
    path: "/v1/chat/completions",
    body: { messages: turns(text), max_tokens: 50 },
  }),
  responses: (text: string): Format => ({
    path: "/v1/responses",
    body: { input: text, max_output_tokens: 50 },
  }),
  messages: (text: string): Format => ({
    path: "/v1/messages",
    body: { messages: turns(text), max_tokens: 50 },
  }),
  generate: (text: string): Format => ({
    path: "/v1/svc/generate",
    body: { messages: turns(text), generation: { max_tokens: 50 } },
  }),
};
type FormatName = keyof typeof FORMATS;

interface Asking {
  readonly svc?: Json;
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

async function ask(
  format: FormatName,
  provider: string,
  members: Json,
  { svc = {}, text = "Hello", headers = {} }: Asking = {},
): Promise<Answer & { sent: Json; sentHeaders: Record<string, unknown>; calls: number }> {
  const { path, body } = FORMATS[format](text);
  const before = gateway.simulator.calls.length;
  const ours = { route: { providers: { only: [provider] } }, ...svc };
  const whole = {
    model: "test/model",
    ...body,
    ...members,
    ...(format === "generate" ? ours : { svc: ours }),
  };
  const answer = await gateway.call("POST", path, {
    body: whole,
    headers: { "anthropic-version": "2023-06-01", ...headers },
  });
  const made = gateway.simulator.calls.slice(before);
  const last = made.at(-1);
  return {
    ...answer,
    calls: made.length,
    sent: last === undefined ? {} : JSON.parse(last.body.toString()),
    sentHeaders: (last?.headers ?? {}) as Record<string, unknown>,
  };
}

interface Told {
  readonly cost: { readonly total_micro_usd: number; readonly lines: readonly Json[] };
  readonly warnings: readonly string[];
}

/** What an answer tells of itself, whole or streamed. */
function toldOf(answer: Answer): Told {
  if (answer.json !== undefined) return answer.json.svc ?? answer.json;
  const objects = answer.text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)));
  for (const object of objects.reverse()) {
    const told = object.svc ?? object.response?.svc ?? (object.cost && object);
    if (told !== undefined) return told;
  }
  throw new Error(`tells nothing: ${answer.text}`);
}

const tool = (type: string, more: Json = {}): Json => ({ tools: [{ type, ...more }] });
const FUNCTION = { type: "function", name: "f", parameters: { type: "object", properties: {} } };

/** A member that an endpoint may have no price for, and what of the body then must be gone. */
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

const isStreamed = [
  ["whole", {}],
  ["streamed", { stream: true }],
] as const;

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
    ...["claude-code-20250219", "interleaved-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14"],
    ...["context-management-2025-06-27", "prompt-caching-scope-2026-01-05", "effort-2025-11-24"],
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

describe("options for one provider", () => {
  const strange = { nested: 1 };
  test.each<readonly [FormatName, DialectName, Json, string]>([
    ["chat", "chat", { service_tier: "priority" }, "service_tier"],
    ["generate", "chat", { web_search_options: {} }, "web_search_options"],
    ["chat", "messages", { speed: "fast" }, "speed"],
    ["messages", "messages", { inference_geo: "us" }, "inference_geo"],
    ["chat", "converse", { serviceTier: { type: "priority" } }, "serviceTier"],
    ["chat", "converse", { performanceConfig: { latency: "optimized" } }, "performanceConfig"],
    [
      "chat",
      "converse",
      { additionalModelRequestFields: { anthropic_beta: ["context-1m-2025-08-07"] } },
      "additionalModelRequestFields",
    ],
    ["chat", "gemini", { serviceTier: "priority" }, "serviceTier"],
    ["chat", "gemini", { service_tier: "flex" }, "service_tier"],
    ["generate", "gemini", { cached_content: "cachedContents/x" }, "cached_content"],
  ])("S3: from %s to %s: %j is left out without a price", async (format, dialect, options, name) => {
    const provider = `plain-${dialect}`;
    const answer = await ask(format, provider, {}, { svc: { provider_options: { [provider]: options } } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.sent).not.toHaveProperty(name);
    expect(toldOf(answer).warnings).toContain(`dropped: /svc/provider_options/${provider}/${name}`);
  });

  test("S3: with a price it is sent and charged, and on an own key it passes; what is not listed passes", async () => {
    const options = { service_tier: "priority", strange };
    const of = (provider: string) => ({
      svc: { provider_options: { [provider]: options } },
      text: "Hi [[sim tier=priority]]",
    });
    const priced = await ask("generate", "priced-chat", {}, of("priced-chat"));
    expect(priced.sent).toMatchObject(options);
    expect(toldOf(priced).cost.lines).toMatchObject([
      { kind: "input", tier: "priority" },
      { kind: "output", tier: "priority" },
    ]);
    const own = await ask("chat", "own-chat", {}, of("own-chat"));
    expect(own.sent).toMatchObject(options);
  });
});

describe("a tier by translation", () => {
  test.each<readonly [FormatName, DialectName, Json, string]>([
    ["chat", "responses", { service_tier: "priority" }, "service_tier"],
    ["responses", "chat", { service_tier: "flex" }, "service_tier"],
    ["chat", "converse", { service_tier: "priority" }, "serviceTier"],
    ["chat", "gemini", { service_tier: "priority" }, "serviceTier"],
    ["generate", "gemini", { generation: { max_tokens: 50, service_tier: "flex" } }, "serviceTier"],
  ])("S3: from %s to %s", async (format, dialect, members, name) => {
    const plain = await ask(format, `plain-${dialect}`, members);
    expect(plain.status, plain.text).toBe(200);
    expect(plain.sent).not.toHaveProperty(name);
    const pointer = format === "generate" ? "/generation/service_tier" : "/service_tier";
    expect(toldOf(plain).warnings).toContain(`dropped: ${pointer}`);
    const text = `Hi [[sim tier=${JSON.stringify(members).includes("flex") ? "flex" : "priority"}]]`;
    const priced = await ask(format, `priced-${dialect}`, members, { text });
    expect(priced.sent).toHaveProperty(name);
    expect(toldOf(priced).cost.lines[0]).toHaveProperty("tier");
    const own = await ask(format, `own-${dialect}`, members);
    expect(own.sent).toHaveProperty(name);
  });
});

const unitsOf = ({ cost }: Told) =>
  cost.lines.map(({ kind, units, tool, tier, unit_price_nano }) => ({
    kind,
    units,
    ...(tool !== undefined && { tool }),
    ...(tier !== undefined && { tier }),
    unit_price_nano,
  }));

describe.each(isStreamed)("%s, with a price", (_, stream) => {
  test("S3: ten Anthropic searches are charged as ten, and not as 35 micro-USD of tokens", async () => {
    const members = { ...tool("web_search_20250305", { name: "web_search", max_uses: 10 }), ...stream };
    const text = 'Hi [[sim uses={"web_search":10,"web_fetch":2}]]';
    const answer = await ask("messages", "priced-messages", members, { text });
    expect(answer.sent).toMatchObject({ tools: [{ type: "web_search_20250305", max_uses: 10 }] });
    const told = toldOf(answer);
    expect(told.warnings).toEqual([]);
    expect(told.cost.lines).toContainEqual({
      ...{
        kind: "server_tool",
        tool: "web_search",
        units: 10,
        unit_price_nano: 10_000_000,
        micro_usd: 100_000,
      },
    });
    expect(told.cost.lines).toContainEqual(
      expect.objectContaining({ kind: "server_tool", tool: "web_fetch", units: 2, micro_usd: 0 }),
    );
    expect(told.cost.total_micro_usd).toBeGreaterThan(100_000);
  });

  test("S3: searches and code of responses", async () => {
    const members = {
      tools: [{ type: "web_search" }, { type: "code_interpreter", container: { type: "auto" } }],
      ...stream,
    };
    const text = 'Hi [[sim uses={"web_search":3,"code_interpreter":1}]]';
    const told = toldOf(await ask("responses", "priced-responses", members, { text }));
    expect(unitsOf(told).slice(2)).toEqual([
      { kind: "server_tool", tool: "web_search", units: 3, unit_price_nano: 10_000_000 },
      { kind: "server_tool", tool: "code_interpreter", units: 1, unit_price_nano: 30_000_000 },
    ]);
  });

  test("S3: a search of chat, of which no count is reported, is charged as one", async () => {
    const told = toldOf(await ask("chat", "priced-chat", { web_search_options: {}, ...stream }));
    expect(told.cost.lines).toContainEqual(
      expect.objectContaining({ tool: "web_search_options", units: 1, micro_usd: 25_000 }),
    );
  });

  test.each<readonly [FormatName & DialectName, Json, string, string | undefined]>([
    ["chat", { service_tier: "priority" }, "tier=priority", "priority"],
    ["chat", { service_tier: "priority" }, "tier=default", undefined],
    ["chat", { service_tier: "flex" }, "tier=flex", "flex"],
    ["responses", { service_tier: "priority" }, "tier=priority", "priority"],
    ["responses", { service_tier: "fast" }, "tier=priority", "priority"],
    ["responses", { service_tier: "priority" }, "tier=default", undefined],
    // Nothing is reported: the tier that was asked for counts.
    ["messages", { speed: "fast" }, "tokens=5", "fast"],
    ["messages", { speed: "fast" }, "speed=standard", undefined],
    ["messages", { inference_geo: "us" }, "geo=us", "us"],
    ["messages", { speed: "fast", inference_geo: "us" }, "speed=fast geo=us", "fast+us"],
    // The account's own setting may be dearer than what was asked for.
    ["messages", {}, "geo=us", "us"],
  ])("S3: %s: %j, and the answer says %s", async (format, members, says, tier) => {
    const answer = await ask(
      format,
      `priced-${format}`,
      { ...members, ...stream },
      { text: `Hi [[sim ${says}]]` },
    );
    const { lines } = toldOf(answer).cost;
    const nano =
      tier === undefined
        ? 1000
        : Math.round((PRICE.tiers[tier as keyof typeof PRICE.tiers].input ?? 0) * 1000);
    expect(lines[0]).toMatchObject({ kind: "input", unit_price_nano: nano });
    expect(lines.map((line) => line.tier)).toEqual([tier, tier]);
  });

  test("S3: what is reported and has no price is told, never silently free", async () => {
    const text = 'Hi [[sim uses={"web_search":2} geo=us]]';
    const { warnings } = toldOf(await ask("messages", "plain-messages", stream, { text }));
    expect(warnings).toEqual(expect.arrayContaining(["unpriced: us", "unpriced: web_search (2)"]));
    const { text: metrics } = await gateway.call("GET", "/metrics");
    expect(Number(/^weir_unpriced_reports_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(2);
  });
});

test("S3: a tool that a later price list prices alone is sent by itself; of tiers without a price together, one", async () => {
  const both = await ask("messages", "priced-messages", {
    tools: [
      { type: "web_search_20250305", name: "web_search" },
      { type: "advisor_20260301", name: "advisor", model: "m" },
    ],
  });
  expect(both.sent.tools).toEqual([{ type: "web_search_20250305", name: "web_search" }]);
});

test("S3: members that the table does not list are counted, by few and plain names", async () => {
  await ask("chat", "plain-chat", { my_own_member: 1, "a b": 2 });
  const { text } = await gateway.call("GET", "/metrics");
  expect(text).toMatch(/^weir_unlisted_members_total\{member="my_own_member"\} \d+$/m);
  expect(text).toMatch(/^weir_unlisted_members_total\{member="\(others\)"\} \d+$/m);
});

test("S3: the record of a call has tool and tier on its lines", async () => {
  const answer = await ask(
    "messages",
    "priced-messages",
    { speed: "fast", ...tool("web_search_20250305", { name: "web_search" }) },
    { text: 'Hi [[sim uses={"web_search":1} speed=fast]]' },
  );
  const id = answer.headers.get("x-svc-request-id");
  const { json } = await gateway.call("GET", `/v1/generation/${id}`);
  expect(json.cost.lines).toEqual(toldOf(answer).cost.lines);
  expect(json.cost.lines).toMatchObject([{ tier: "fast" }, { tier: "fast" }, { tool: "web_search" }]);
});
