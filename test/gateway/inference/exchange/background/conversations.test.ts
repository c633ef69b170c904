/** Background responses that go on from a conversation: each holds it until it has ended, and adds its turn in the end. */
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  backgroundGateway,
  DIALECTS,
  ENDLESS,
  modelOf,
  polled,
  SHORT,
} from "../../../../support/background/fixtures.ts";
import { until } from "../../../../support/wait.ts";
import { collect } from "../../../sdk/fixtures.ts";

const own = backgroundGateway();

const itemsOf = async (id: string) =>
  (await own.gateway.call("GET", `/v1/conversations/${id}/items?order=asc&limit=100`)).json.data;
const rolesOf = async (id: string) => (await itemsOf(id)).map(({ role }: { role: string }) => role);

/** As the first event has it, once the last one has come. */
async function streamed(asked: OpenAI.Responses.ResponseCreateParamsNonStreaming) {
  const [first] = await collect(await own.openai.responses.create({ ...asked, stream: true }));
  return (first as OpenAI.Responses.ResponseCreatedEvent).response;
}

describe.each(DIALECTS)("at an upstream that speaks %s", (dialect) => {
  const model = modelOf(dialect);

  test.each([false, true])(
    "its turn is there when it is completed, and the next one goes on from it; stream: %s",
    async (stream) => {
      const { id } = await own.openai.conversations.create({
        items: [{ role: "user", content: "I am Ada." }],
      });
      const asked = { model, input: SHORT, conversation: id, background: true };
      const queued = stream ? await streamed(asked) : await own.openai.responses.create(asked);
      expect(queued.conversation).toEqual({ id });
      const ended = await polled(own.openai, queued.id);
      expect(ended).toMatchObject({ status: "completed", conversation: { id } });
      expect((await itemsOf(id)).at(-1)?.id).toBe(ended.output.at(-1)?.id);
      const next = await own.openai.responses.create({ model, input: "And?", conversation: id });
      expect(next.status).toBe("completed");
      const sent = own.gateway.simulator.calls.at(-1)?.body.toString();
      for (const said of ["I am Ada.", ended.output_text]) expect(sent).toContain(said);
      expect(await rolesOf(id)).toEqual(["user", "user", "assistant", "user", "assistant"]);
    },
  );

  test("while it runs the conversation is held; cancelled it adds nothing, and lets go", async () => {
    const { id } = await own.openai.conversations.create();
    const asked = { model, input: ENDLESS, conversation: id, background: true };
    const queued = await own.openai.responses.create(asked);
    const refused = await own.gateway.call("POST", "/v1/responses", {
      body: { model, input: "Hi", conversation: id },
    });
    expect([refused.status, refused.json.error.code]).toEqual([400, "conversation_locked"]);
    await own.openai.responses.cancel(queued.id);
    const next = await until(
      "the conversation is free",
      () => own.gateway.call("POST", "/v1/responses", { body: { model, input: "Hi", conversation: id } }),
      ({ status }) => status === 200,
    );
    expect(next.json.status).toBe("completed");
    expect(await rolesOf(id)).toEqual(["user", "assistant"]);
  });
});
