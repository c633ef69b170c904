/** A refusal of media is one endpoint's: the model's next endpoint that can be told answers, and nothing is charged where none can. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField } from "../../support/field/field.ts";
import { ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { type MediaServer, sends, startMediaServer } from "./media-fetch.fixtures.ts";

let up: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  up = await ScriptedUpstream.start();
  gateway = await testGateway({
    model: { modalities: { in: ["text", "image"], out: ["text"] } },
    endpoints: (["converse", "messages"] as const).map((dialect) => ({
      provider: dialect,
      baseUrl: `${up.url}/${dialect}/v1`,
      dialects: [dialect],
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await up.close();
});

const ask = (order: readonly string[], stream: boolean, more = {}) =>
  gateway.call("POST", "/v1/chat/completions", {
    body: {
      model: "test/model",
      stream,
      svc: { route: { providers: { order, ...more } } },
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
      ],
    },
  });

it.each([false, true])("streamed: %s", async (stream) => {
  up.script(answerOf("messages", { text: "seen" }, stream));
  const answer = await ask(["converse", "messages"], stream);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.text).toContain("seen");
  expect(up.arrived.map(({ url }) => url)).toEqual(["/messages/v1/messages"]);

  up.script();
  const refused = await ask(["converse"], stream, { only: ["converse"] });
  expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
    400,
    "capability_not_supported",
    "/messages/0/content/0",
  ]);
  expect(up.arrived).toEqual([]);
});

describe("a model that takes text and documents alone", () => {
  const bytes = Buffer.from(`\x89PNG\r\n\x1a\n${"p".repeat(300)}`, "latin1");
  let server: MediaServer;
  let field: Field;
  beforeAll(async () => {
    server = await startMediaServer();
    server.paths.set("/file", sends(bytes, "application/octet-stream"));
    field = await startField({
      settings: { media_fetch: { enabled: true, allow: ["127.0.0.0/8"] } },
      model: { modalities: { in: ["text"], out: ["text"] } },
    });
  });
  afterAll(async () => {
    await field.stop();
    await server.close();
  });

  const data = { type: "base64", media_type: "application/pdf", data: bytes.toString("base64") };
  it.each([
    ["converse", "by its data", () => data],
    ["gemini", "by its data", () => data],
    ["chat", "by its data", () => data],
    ["converse", "by an address", () => ({ type: "url", url: `${server.url}/file` })],
    ["chat", "by an address", () => ({ type: "url", url: `${server.url}/file` })],
    ["gemini", "by an address that shows it", () => ({ type: "url", url: "https://example.com/a.png" })],
  ] as const)("%s is not told an image that is called a document, %s", async (to, _, sourceOf) => {
    field.up.script(answerOf(to, { text: "seen" }, false));
    const messages = [{ role: "user", content: [{ type: "document", source: sourceOf() }] }];
    const { status, json } = await field.send("messages", to, { max_tokens: 9, messages });
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      "capability_not_supported",
      "/messages/0/content/0",
    ]);
    expect(field.up.arrived).toEqual([]);
  });
});
