/**
 * Output limits above what an endpoint gives (ogx-ai/ogx#5696): lowered with a warning, in strict mode 400 at the member that the client
 * sent, and never a context overflow, on which clients compact. What follows a lowered limit is in `output-limit.budgets.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ChatUpstreamName, ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, type Got, startField, TARGETS, type TargetName } from "../../support/field/field.ts";

const MOST = 32_000;
const ASKED = 64_000;
const CONTEXT = 200_000;

let field: Field;
beforeAll(async () => {
  field = await startField({
    model: { context: CONTEXT, max_output: MOST },
  });
});
afterAll(() => field.stop());

const USER = { role: "user", content: "x" };
/** A body with each member that a format has for its limit. */
const ASKING: readonly (readonly [ClientName, pointer: string, body: (tokens: number) => Json])[] = [
  ["chat", "/max_tokens", (max_tokens) => ({ messages: [USER], max_tokens })],
  [
    "chat",
    "/max_completion_tokens",
    (max_completion_tokens) => ({ messages: [USER], max_completion_tokens }),
  ],
  ["completions", "/max_tokens", (max_tokens) => ({ prompt: "x", max_tokens })],
  ["responses", "/max_output_tokens", (max_output_tokens) => ({ input: "x", max_output_tokens })],
  ["messages", "/max_tokens", (max_tokens) => ({ messages: [USER], max_tokens })],
  ["generate", "/generation/max_tokens", (max_tokens) => ({ messages: [USER], generation: { max_tokens } })],
];
const TOLD: Readonly<Record<ChatUpstreamName, (body: Json) => unknown>> = {
  chat: ({ max_tokens, max_completion_tokens }) => max_tokens ?? max_completion_tokens,
  responses: ({ max_output_tokens }) => max_output_tokens,
  messages: ({ max_tokens }) => max_tokens,
  gemini: ({ generationConfig }) => generationConfig.maxOutputTokens,
  converse: ({ inferenceConfig }) => inferenceConfig.maxTokens,
};
const TARGET_NAMES: readonly TargetName[] = [
  "chat",
  "chat-reasoning",
  "responses",
  "messages",
  "gemini",
  "converse",
  "converse-nova",
];
const MODES = [false, true];

const WAYS = ASKING.flatMap(([client, pointer, body]) =>
  TARGET_NAMES.flatMap((target) => MODES.map((stream) => ({ client, pointer, body, target, stream }))),
);

const withSvc = (client: ClientName, body: Json, svc: object): Json =>
  client === "generate" ? { ...body, ...svc } : { ...body, svc };

async function sent(client: ClientName, target: TargetName, body: Json, stream: boolean): Promise<Got> {
  const { dialect } = TARGETS[target];
  field.up.script(answerOf(dialect, { text: "ok" }, stream));
  return await field.send(client, target, body, { stream });
}

/** In the last bytes of every answer. */
const warningsOf = ({ text }: Got): readonly string[] =>
  JSON.parse(/"warnings":(\[[^\]]*\])/.exec(text)?.[1] ?? "[]");

const told = (target: TargetName): unknown => TOLD[TARGETS[target].dialect](field.up.last.json);

describe("above what the endpoint gives", () => {
  for (const { client, pointer, body, target, stream } of WAYS) {
    test(`${client} ${pointer} to ${target}, ${stream ? "streamed" : "whole"}`, async () => {
      const got = await sent(client, target, body(ASKED), stream);
      expect(got.status, got.text).toBe(200);
      expect(told(target)).toBe(MOST);
      expect(warningsOf(got)).toContain(`lowered: ${pointer} to ${MOST}`);
      // Between equal ends all other bytes are the client's.
      if (target === client) expect(field.up.last.raw).toContain(JSON.stringify(body(MOST)).slice(1));
    });

    test(`strictly: ${client} ${pointer} to ${target}, ${stream ? "streamed" : "whole"}`, async () => {
      field.up.script();
      const strict = withSvc(client, body(ASKED), { compat: { strict: true } });
      const { status, json } = await field.send(client, target, strict, { stream });
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ code: "invalid_value" });
      if (client !== "messages") expect(json.error.param).toBe(pointer);
      expect(json.error.message).toContain(`${MOST}`);
      expect(field.up.arrived).toEqual([]);
    });
  }

  test.each(WAYS.filter(({ target, stream }) => target === "chat" && !stream))(
    "what it gives is not lowered: $client",
    async ({ client, body, target }) => {
      const got = await sent(client, target, body(MOST), false);
      expect([got.status, told(target), got.text.includes("lowered")]).toEqual([200, MOST, false]);
    },
  );

  test("several answers are held and told each so many tokens", async () => {
    const body = { messages: [USER], n: 3, max_tokens: ASKED, max_completion_tokens: ASKED + 1 };
    const got = await sent("chat", "chat", body, false);
    expect(warningsOf(got)).toEqual([
      `lowered: /max_tokens to ${MOST}`,
      `lowered: /max_completion_tokens to ${MOST}`,
    ]);
    expect(field.up.last.json).toMatchObject({ n: 3, max_tokens: MOST, max_completion_tokens: MOST });
  });
});

describe("a prompt beside which the longest answer has no place", () => {
  const long = "word ".repeat(180_000);
  test.each(TARGET_NAMES)("the answer gets what is left of the context: %s", async (target) => {
    const got = await sent(
      "chat",
      target,
      { messages: [{ role: "user", content: long }], max_tokens: ASKED },
      true,
    );
    expect(got.status, got.text).toBe(200);
    const limit = told(target) as number;
    expect(limit).toBeGreaterThan(0);
    expect(limit).toBeLessThan(CONTEXT - 180_000 + 1000);
    expect(warningsOf(got)).toContain(`lowered: /max_tokens to ${limit}`);
  });

  test("a prompt that is too long by itself is a context overflow", async () => {
    const body = { messages: [{ role: "user", content: "word ".repeat(230_000) }], max_tokens: ASKED };
    const { status, json } = await field.send("chat", "chat", body);
    expect([status, json.error.code]).toEqual([400, "context_length_exceeded"]);
  });
});

describe("a limit of 0 is passed on", () => {
  // A completion without output measures its prompt, which no chat does.
  for (const { client, body, target, stream } of WAYS.filter((way) => way.client !== "completions")) {
    test(`${client} to ${target}, ${stream ? "streamed" : "whole"}`, async () => {
      for (const svc of [{}, { hold: "fit" }]) {
        const got = await sent(client, target, withSvc(client, body(0), svc), stream);
        expect(got.status, got.text).toBe(200);
        expect(told(target)).toBe(0);
        expect(got.text).not.toMatch(/lowered|hold_fitted/);
      }
    });
  }
});

test("what is told is echoed in a response, and the route is the client's own in every format", async () => {
  const got = await sent("responses", "chat", { input: "x", max_output_tokens: ASKED }, false);
  expect(got.json.max_output_tokens).toBe(MOST);
  expect(Object.keys(CLIENTS)).toEqual(expect.arrayContaining(ASKING.map(([client]) => client)));
});
