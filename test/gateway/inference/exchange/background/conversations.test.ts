/** Background responses that go on from a conversation: each holds it until it has ended, and adds its turn in the end. */
import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  DIALECTS,
  ENDLESS,
  ENDPOINTS,
  modelOf,
  polled,
  SHORT,
} from "../../../../support/background/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { atRest } from "../../../../support/observations.ts";
import { until } from "../../../../support/wait.ts";

let gateway: TestGateway;
let openai: OpenAI;
beforeAll(async () => {
  gateway = await testGateway({ endpoints: ENDPOINTS, settings: { timeouts: { keep_alive_ms: 0 } } });
  openai = gateway.openai();
});
afterAll(() => gateway?.stop());
afterEach(() => atRest(gateway));

const itemsOf = async (id: string) =>
  (await gateway.call("GET", `/v1/conversations/${id}/items?order=asc&limit=100`)).json.data;
const rolesOf = async (id: string) => (await itemsOf(id)).map(({ role }: { role: string }) => role);

describe.each(DIALECTS)("at an upstream that speaks %s", (dialect) => {
  const model = modelOf(dialect);

  test("its turn is there when it is completed, and the next one goes on from it", async () => {
    const { id } = await openai.conversations.create({ items: [{ role: "user", content: "I am Ada." }] });
    const asked = { model, input: SHORT, conversation: id, background: true };
    const queued = await openai.responses.create(asked);
    expect(queued.conversation).toEqual({ id });
    const ended = await polled(openai, queued.id);
    expect(ended).toMatchObject({ status: "completed", conversation: { id } });
    expect((await itemsOf(id)).at(-1)?.id).toBe(ended.output.at(-1)?.id);
    const next = await openai.responses.create({ model, input: "And?", conversation: id });
    expect(next.status).toBe("completed");
    const sent = gateway.simulator.calls.at(-1)?.body.toString();
    for (const said of ["I am Ada.", ended.output_text]) expect(sent).toContain(said);
    expect(await rolesOf(id)).toEqual(["user", "user", "assistant", "user", "assistant"]);
  });

  test("while it runs the conversation is held; cancelled it adds nothing, and lets go", async () => {
    const { id } = await openai.conversations.create();
    const asked = { model, input: ENDLESS, conversation: id, background: true };
    const queued = await openai.responses.create(asked);
    const refused = await gateway.call("POST", "/v1/responses", {
      body: { model, input: "Hi", conversation: id },
    });
    expect([refused.status, refused.json.error.code]).toEqual([400, "conversation_locked"]);
    await openai.responses.cancel(queued.id);
    const next = await until(
      "the conversation is free",
      () => gateway.call("POST", "/v1/responses", { body: { model, input: "Hi", conversation: id } }),
      ({ status }) => status === 200,
    );
    expect(next.json.status).toBe("completed");
    expect(await rolesOf(id)).toEqual(["user", "assistant"]);
  });
});
