/** A prompt that is too long for one endpoint is sent to the next one whose context is longer, and to no other. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { answerOf } from "../../../support/field/answers.ts";
import { type Script, ScriptedUpstream } from "../../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { attemptsOf, charges, recordOf, requestIdOf } from "../../../support/observations.ts";

const CONTEXTS = { short: 20_000, alike: 20_000, long: 200_000, longer: 400_000, longest: 800_000 } as const;
type Name = keyof typeof CONTEXTS;

let up: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  up = await ScriptedUpstream.start();
  gateway = await testGateway({
    endpoints: Object.entries(CONTEXTS).map(([provider, context]) => ({
      provider,
      baseUrl: `${up.url}/${provider}/v1`,
      entry: { context, max_output: 4000 },
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await up.close();
});

const OK = answerOf("chat", { text: "ok" }, false);
const BUSY = { status: 503, body: JSON.stringify({ error: { message: "Overloaded." } }) };
const KEYLESS = { status: 401, body: JSON.stringify({ error: { message: "Invalid key." } }) };
const BAD = {
  status: 400,
  body: JSON.stringify({ error: { message: "No such thing.", type: "invalid_request_error" } }),
};
const tooLong = (tokens: number, maximum: number) => ({
  status: 400,
  body: JSON.stringify({
    error: {
      message: `This model's maximum context length is ${maximum} tokens. However, your messages resulted in ${tokens} tokens.`,
      code: "context_length_exceeded",
    },
  }),
});

async function asked(order: readonly Name[], ...scripts: readonly Script[]) {
  up.script(...scripts);
  const answer = await gateway.chat({
    model: "test/model",
    messages: [{ role: "user", content: "a" }],
    svc: { route: { providers: { order, only: order } } },
  });
  const record = await recordOf(gateway, answer.headers.get("x-svc-request-id") ?? "");
  return {
    status: answer.status,
    error: answer.json.error,
    to: up.arrived.map(({ url }) => url.split("/")[1]),
    attempts: attemptsOf(record),
  };
}

test("the next endpoint with a longer context answers, one with the same is passed over", async () => {
  const { status, to, attempts } = await asked(["short", "alike", "long"], tooLong(30_000, 20_000), OK);
  expect([status, to]).toEqual([200, ["short", "long"]]);
  expect(attempts).toEqual(["http_error 400 client", "ok 200"]);
});

test("where no context is longer the call ends at once", async () => {
  const { error, to } = await asked(["long", "short", "alike"], tooLong(300_000, 200_000));
  expect([error.code, to]).toEqual(["context_length_exceeded", ["long"]]);
});

test("one that the provider's own count exceeds is passed over", async () => {
  const { to } = await asked(["short", "long", "longer"], tooLong(300_000, 20_000), OK);
  expect(to).toEqual(["short", "longer"]);
});

test("where all are too short, the longest tells its numbers", async () => {
  const refusals = [tooLong(30_000, 20_000), tooLong(250_000, 200_000)];
  const { error, to } = await asked(["short", "long"], ...refusals);
  expect(to).toEqual(["short", "long"]);
  expect(error).toMatchObject({
    code: "context_length_exceeded",
    message: expect.stringContaining("250000 tokens"),
  });
});

// Each at an endpoint of its own, which then rests.
test("the limit told is that of the endpoint that refused, where its provider says none", async () => {
  const silent = {
    status: 400,
    body: JSON.stringify({ error: { message: "Your input exceeds the context window." } }),
  };
  const bare = {
    status: 400,
    body: JSON.stringify({ error: { code: "context_length_exceeded", message: "Too long." } }),
  };
  expect((await asked(["short", "long"], silent, silent)).error.message).toBe(
    "Your input exceeds the context window.",
  );
  const { error } = await asked(["short", "long"], bare, bare);
  expect(error.message).toMatch(
    /^This model's maximum context length is 200000 tokens by the catalog.*Too long\.$/,
  );
});

const STREAM = { headers: { "content-type": "text/event-stream" } };
const ROLE = chunk({ role: "assistant", content: "" });
const OVERFLOW = `data: ${tooLong(30_000, 20_000).body}\n\n`;

function chunk(delta: object): string {
  const choices = [{ index: 0, delta, finish_reason: null }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

test.each([
  ["behind a preamble, for a whole answer", { ...STREAM, parts: [ROLE, OVERFLOW] }, false],
  ["behind a preamble", { ...STREAM, parts: [ROLE, OVERFLOW] }, true],
  ["as a whole answer, for a stream", { body: tooLong(30_000, 20_000).body }, true],
  ["alone", tooLong(30_000, 20_000), true],
])("an overflow %s is charged nothing, and the longer endpoint once", async (_, first, stream) => {
  up.script(first, answerOf("chat", { text: "ok" }, stream));
  const before = await gateway.balance();
  const order = ["short", "long"];
  const answer = await gateway.chat({
    model: "test/model",
    stream,
    messages: [{ role: "user", content: "a" }],
    svc: { route: { providers: { order, only: order } } },
  });
  const id = requestIdOf(answer);
  const record = await recordOf(gateway, id);
  expect([answer.status, attemptsOf(record).at(-1), record.attempt_rows.length]).toEqual([200, "ok 200", 2]);
  const charged = (await charges(gateway)).get(id);
  const after = await gateway.balance();
  expect(charged).toEqual([after.available - before.available]);
  expect([record.provider, after.held]).toEqual(["long", 0]);
});

test("behind content an overflow ends the stream, and no other endpoint is asked", async () => {
  const parts = [ROLE, chunk({ content: "So" }), OVERFLOW];
  up.script({ ...STREAM, parts }, answerOf("chat", { text: "ok" }, true));
  const order = ["short", "long"];
  const answer = await gateway.chat({
    model: "test/model",
    stream: true,
    messages: [{ role: "user", content: "a" }],
    svc: { route: { providers: { order, only: order } } },
  });
  expect(answer.text).toContain('"code":"context_length_exceeded"');
  expect(up.arrived).toHaveLength(1);
});

test.each([
  ["may serve the call later, this is told", "longer", BUSY, 429, "upstream_capacity"],
  ["refuses the request for another reason, this is told", "long", BAD, 400, "upstream_rejected"],
  ["refuses its credential, the overflow is told", "longest", KEYLESS, 400, "context_length_exceeded"],
] as const)("if the longer one %s", async (_, second, says, status, code) => {
  const answer = await asked(["short", second], tooLong(30_000, 20_000), says);
  expect(answer.to).toEqual(["short", second]);
  expect([answer.status, answer.error.code]).toEqual([status, code]);
});
