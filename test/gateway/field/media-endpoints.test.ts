/** A refusal of media is one endpoint's: the model's next endpoint that can be told answers, and nothing is charged where none can. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

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
