/** What callers are told whom no endpoint may serve: what the model cannot do and where the request asks for it, or who is left out and why. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCatalog } from "../../../src/catalog/models/catalog.ts";
import { unconfigured } from "../../../src/catalog/models/unconfigured.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { neededAt } from "../../../src/wire/needed-at.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const URL_OF = `data:image/png;base64,${PIXEL}`;
/** Far beyond what is read on the event loop. */
const LARGE = `data:image/png;base64,${"A".repeat(1_000_000)}`;
const TOOL = { name: "f", description: "", parameters: { type: "object", properties: {} } };
const SCHEMA = { name: "s", schema: { type: "object", properties: {} } };

let gateway: TestGateway;
let log: string[];
beforeAll(async () => {
  log = [];
  gateway = await testGateway({
    log,
    env: { LOG_LEVEL: "info" },
    model: { modalities: { in: ["text", "image"], out: ["text"] }, capabilities: ["tools"] },
    endpoints: [
      { provider: "plain", entry: { modalities_in: ["text"], capabilities: [] } },
      { provider: "plainer", entry: { modalities_in: ["text"], capabilities: [] } },
    ],
  });
});
afterAll(() => gateway?.stop());

const call = (path: string, body: object) =>
  gateway.call("POST", path, { body: { model: "test/model", ...body } });
const user = (content: unknown) => [
  { role: "user", content: "First" },
  { role: "user", content },
];
const text = { type: "text", text: "What is this?" };
const image = (url: string) => ({ type: "image_url", image_url: { url } });
const block = (data: string) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data },
});
const tooled = (content: unknown[]) => [
  { role: "user", content: "First" },
  { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: { type: "image" } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content }] },
];

describe("O28: what no endpoint of the model can do is 400, with a pointer to what asks for it", () => {
  test.each([
    [
      "chat: an image",
      "/v1/chat/completions",
      { messages: user([text, image(URL_OF)]) },
      "/messages/1/content/1",
    ],
    [
      "chat: a large image",
      "/v1/chat/completions",
      { messages: user([text, image(LARGE)]) },
      "/messages/1/content/1",
    ],
    [
      "chat: sound",
      "/v1/chat/completions",
      { messages: user([{ type: "input_audio", input_audio: { data: PIXEL, format: "wav" } }]) },
      "/messages/1/content/0",
    ],
    [
      "chat: tools",
      "/v1/chat/completions",
      { messages: user("Hi"), tools: [{ type: "function", function: TOOL }] },
      "/tools",
    ],
    [
      "chat: a schema",
      "/v1/chat/completions",
      { messages: user("Hi"), response_format: { type: "json_schema", json_schema: SCHEMA } },
      "/response_format",
    ],
    [
      "messages: an image",
      "/v1/messages",
      { max_tokens: 9, messages: user([text, block(PIXEL)]) },
      "/messages/1/content/1",
    ],
    [
      "messages: tools go first, then what their results hold",
      "/v1/messages",
      { max_tokens: 9, messages: tooled([text, block(PIXEL)]) },
      "/messages/2/content/0/content/1",
    ],
    [
      "responses: an image",
      "/v1/responses",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: URL_OF, detail: "auto" }] }] },
      "/input/0/content/0",
    ],
    [
      "responses: a schema",
      "/v1/responses",
      { input: "Hi", text: { format: { type: "json_schema", ...SCHEMA } } },
      "/text/format",
    ],
    ["generate: tools", "/v1/svc/generate", { messages: user("Hi"), tools: [TOOL] }, "/tools"],
    [
      "dry run: a schema",
      "/v1/svc/dry_run",
      { messages: user("Hi"), format: { type: "json_schema", ...SCHEMA } },
      "/format",
    ],
  ])("%s", async (_, path, body, param) => {
    for (const stream of path.endsWith("dry_run") ? [false] : [false, true]) {
      const { status, json, headers } = await call(path, { ...body, stream });
      expect([status, json.error.code ?? json.error.type]).toEqual([400, "capability_not_supported"]);
      if (path !== "/v1/messages") {
        expect(json.error.param).toBe(param);
        expect(json.error.details.excluded).toHaveLength(2);
      } else {
        // Anthropic's errors have no place for a pointer.
        expect(json.error.message).toContain("images");
        const bytes = Buffer.from(JSON.stringify({ model: "test/model", ...body }));
        expect(neededAt(FORMATS.messages, FORMATS.messages.read(bytes), "vision")).toBe(param);
      }
      expect(headers.get("x-should-retry")).toBe("false");
    }
  });
});

test("O28: where one endpoint can do it and another requirement leaves that out, it is 404 with the reasons", async () => {
  const both = await testGateway({
    endpoints: [{ provider: "sees" }, { provider: "blind", entry: { modalities_in: ["text"] } }],
  });
  try {
    const body = { model: "test/model", messages: user([text, image(URL_OF)]) };
    expect((await both.chat(body)).status).toBe(200);
    const left = await both.chat({ ...body, svc: { route: { providers: { only: ["blind"] } } } });
    expect([left.status, left.json.error.code]).toEqual([404, "no_endpoint"]);
    expect(left.json.error.details.excluded.map((x: { kind: string }) => x.kind).sort()).toEqual([
      "capability",
      "route",
    ]);
  } finally {
    await both.stop();
  }
});

describe("O28: a provider without a credential", () => {
  test("is among the excluded, callers learn no variable's name, operators do", async () => {
    const lines: string[] = [];
    const unset = await testGateway({
      log: lines,
      endpoints: [
        { provider: "unset", credentialEnv: "WEIR_TEST_UNSET_KEY" },
        { provider: "set", entry: { modalities_in: ["text"] } },
      ],
    });
    try {
      const svc = { route: { providers: { only: ["unset"] } } };
      const { status, json, text: told } = await unset.chat({ model: "test/model", svc });
      expect([status, json.error.code]).toEqual([404, "no_endpoint"]);
      expect(json.error.details.excluded).toContainEqual({
        endpoint_id: "ep_unset_sim-test_local",
        kind: "not_configured",
        reason: "its provider is not configured on this gateway",
      });
      expect(told).not.toContain("WEIR_TEST_UNSET_KEY");
      const dry = await unset.call("POST", "/v1/svc/dry_run", {
        body: { model: "test/model", messages: user("Hi"), route: svc.route },
      });
      expect(dry.json.error).toMatchObject({ code: "no_endpoint", details: json.error.details });
      const said = lines.filter((line) => line.includes("WEIR_TEST_UNSET_KEY"));
      expect(said).toHaveLength(1);
      expect(said[0]).toContain("unset (WEIR_TEST_UNSET_KEY)");
      await unset.reload();
      expect(lines.filter((line) => line.includes("WEIR_TEST_UNSET_KEY"))).toHaveLength(2);
    } finally {
      await unset.stop();
    }
  });

  test("alone behind a model: nothing of it is configured", async () => {
    const none = await testGateway({
      endpoints: [{ provider: "unset", credentialEnv: "WEIR_TEST_UNSET_KEY" }],
    });
    try {
      const { status, json } = await none.chat({ model: "test/model" });
      expect([status, json.error.message]).toEqual([
        404,
        "No endpoint of test/model is configured on this gateway.",
      ]);
      expect(json.error.details.excluded).toHaveLength(1);
    } finally {
      await none.stop();
    }
  });

  test("the shipped catalog names every variable that is missing, alternatives too", async () => {
    const snapshot = await loadCatalog({
      configDir: "config",
      env: { OPENAI_API_KEY: "sk-set" },
      simulatorUrl: "http://127.0.0.1:1",
      priceVersions: {
        assign: async (all: readonly { readonly endpointId: string }[]) =>
          new Map(all.map(({ endpointId }) => [endpointId, { version: "pv_1", changedMs: undefined }])),
      },
    } as unknown as Parameters<typeof loadCatalog>[0]);
    const missing = Object.fromEntries(
      unconfigured(snapshot).map(({ provider, missing: names }) => [provider, names]),
    );
    expect(missing).not.toHaveProperty("openai");
    expect(missing).not.toHaveProperty("simulator");
    expect(missing).toMatchObject({
      anthropic: ["ANTHROPIC_API_KEY"],
      vllm: ["VLLM_BASE_URL"],
      bedrock: [expect.stringContaining("AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY")],
      "azure-openai": expect.arrayContaining(["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"]),
    });
    for (const names of Object.values(missing)) expect(names).not.toEqual([]);
  });
});
