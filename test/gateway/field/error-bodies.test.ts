/**
 * The reason in a provider's refusal reaches the client in whatever shape the provider says it: as the body of an error, with status
 * 200, and within a stream; without what is none of the client's business.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatUpstreamName, ClientName } from "../../support/conformance/ends.ts";
import { type Field, type Got, startField, type TargetName } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { frame } from "../../support/wire/converse.fixtures.ts";
import { REASON, SHAPES, type Shape, TEXTS } from "./error-bodies.fixtures.ts";

const ASKED: Readonly<Record<ClientName, object>> = {
  chat: { messages: [{ role: "user", content: "x" }] },
  completions: { prompt: "x" },
  responses: { input: "x", store: false },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "x" }] },
  generate: { messages: [{ role: "user", content: "x" }] },
};
const ALL_CLIENTS = Object.keys(ASKED) as ClientName[];
const DIALECTS: readonly ChatUpstreamName[] = ["chat", "responses", "messages", "gemini", "converse"];
const MODES = [false, true];

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

const textOf = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));
const refused = ({ body, type = "application/json" }: Shape, status = 400): Scripted => ({
  status,
  headers: { "content-type": type },
  body: textOf(body),
});
async function ask(
  client: ClientName,
  target: TargetName,
  stream: boolean,
  ...scripts: Scripted[]
): Promise<Got> {
  field.up.script(...scripts);
  return field.send(client, target, ASKED[client], { stream });
}

describe("the reason in a refusal's body", () => {
  test.each(SHAPES.map((shape) => [shape.name, shape] as const))("%s", async (_, shape) => {
    for (const stream of MODES) {
      const { status, json } = await ask("chat", "chat", stream, refused(shape));
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ code: "upstream_rejected", message: shape.told ?? REASON });
    }
  });

  test.each(TEXTS.map((text) => [text.name, text] as const))(
    "%s",
    async (_, { bytes, type, told = REASON }) => {
      for (const stream of MODES) {
        const headers = { "content-type": type };
        const { status, json } = await ask("chat", "chat", stream, { status: 400, headers, parts: [bytes] });
        expect(status).toBe(400);
        expect(json.error).toMatchObject({ code: "upstream_rejected", message: told });
      }
    },
  );

  const ways = ALL_CLIENTS.flatMap((client) => DIALECTS.map((dialect) => [client, dialect] as const));
  test.each(ways)("from %s to %s: status and reason are the provider's", async (client, dialect) => {
    for (const stream of MODES) {
      for (const name of ["FastAPI's list", "Mistral's", "a text"]) {
        const shape = SHAPES.find((each) => each.name === name) as Shape;
        const got = await ask(client, dialect, stream, refused(shape, 422));
        expect(got.status).toBe(422);
        expect(got.json.error.message).toBe(shape.told ?? REASON);
      }
    }
  });
});

test.each(DIALECTS)("from %s: a body that never ends is cut, and its connection closed", async (dialect) => {
  const begun = `{"error":{"message":${JSON.stringify(REASON)},"input":"${"x".repeat(200_000)}`;
  for (const stream of MODES) {
    const { promise: cut, resolve } = Promise.withResolvers<unknown>();
    const parts = [begun, (closed: Promise<unknown>) => closed.then(resolve)];
    const got = await ask("chat", dialect, stream, { status: 400, parts });
    expect(got.status).toBe(400);
    expect(got.json.error.message).toBe(REASON);
    await cut;
  }
});

/** JSON shapes that are no answer of any dialect. */
const BARE = SHAPES.filter(({ name }) =>
  [
    "OpenAI's",
    "Anthropic's",
    "a status of gRPC's",
    "FastAPI's list",
    "Mistral's",
    "vLLM's",
    "xAI's",
    "Cloudflare's errors",
    "error_msg",
    "MiniMax's",
    "an error within an error",
    "FastAPI's text",
    "Google's list",
    "msg",
    "Coze's",
    "Tencent's",
    "Volcengine's",
    "Databricks'",
    "Dify's",
    "err",
    "an object as error_info",
    "exception",
  ].includes(name),
);

/** An error as the first event of a stream. */
function streamed(dialect: ChatUpstreamName, body: unknown, named = false): Scripted {
  if (dialect !== "converse") {
    const event = named ? "event: error\n" : "";
    return { headers: { "content-type": "text/event-stream" }, body: `${event}data: ${textOf(body)}\n\n` };
  }
  const headers = { ":exception-type": "validationException", ":message-type": "exception" };
  return {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
    parts: [Buffer.from(frame(headers, textOf(body)), "latin1")],
  };
}

describe("the reason of an error with status 200", () => {
  const ways = DIALECTS.flatMap((dialect) => BARE.map((shape) => [dialect, shape.name, shape] as const));
  test.each(ways)("%s, whole: %s", async (dialect, _, shape) => {
    for (const client of ALL_CLIENTS) {
      const got = await ask(client, dialect, false, refused(shape, 200));
      expect(got.status).toBeGreaterThanOrEqual(400);
      expectReason(got, shape);
    }
  });

  test.each(ways)("%s, the first event of a stream: %s", async (dialect, _, shape) => {
    for (const client of ALL_CLIENTS) {
      for (const named of [false, true]) {
        const got = await ask(client, dialect, true, streamed(dialect, shape.body, named));
        // The exception's name says it.
        expectReason(got, shape, dialect === "converse" || undefined);
      }
    }
  });
});

/** By these words the request is at fault. What is of no such kind is told as the provider's failure, without its words. */
const OF_REQUEST = [
  "OpenAI's",
  "Anthropic's",
  "FastAPI's list",
  "Mistral's",
  "vLLM's",
  "an error within an error",
  "Google's list",
  "msg",
  "Databricks'",
  "Dify's",
];

function expectReason(
  { text }: Got,
  { name, told = REASON }: Shape,
  isOfRequest = OF_REQUEST.includes(name),
): void {
  expect(text).toContain(isOfRequest ? JSON.stringify(told).slice(1, -1) : "The provider behind");
  expect(text).not.toContain("cannot be read");
}

describe("T61: what is none of the client's business", () => {
  test.each([
    [
      "the model `/models/llama` at http://10.0.0.5:8000/v1?key=abcdefgh is gone",
      "the model `[path]` at http://[host]/v1?key=[credential] is gone",
    ],
    ["Team: 16f2151a-40f4-4a80-8ad0-cae00c27e8dd refused it", "Team: [account] refused it"],
  ])("%s", async (message, told) => {
    for (const body of [
      { detail: message },
      { errors: [message] },
      { error: { metadata: { raw: JSON.stringify({ error: { message } }) } } },
      { detail: [{ loc: ["body"], msg: message }] },
    ]) {
      const got = await ask("chat", "chat", false, { status: 400, body: JSON.stringify(body) });
      expect(got.json.error.message).toContain(told);
      expect(got.text).not.toMatch(/10\.0\.0\.5|abcdefgh|16f2151a/);
    }
  });
});
