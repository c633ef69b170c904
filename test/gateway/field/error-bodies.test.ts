/**
 * The reason in a provider's refusal reaches the client in whatever shape the provider says it: as the body of an error, with status
 * 200, and within a stream; without what is none of the client's business.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatUpstreamName, ClientName } from "../../support/conformance/ends.ts";
import { type Field, type Got, startField, type TargetName } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { frame } from "../../support/wire/converse.fixtures.ts";

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

/** What all shapes say; the field where the shape names one. */
const REASON = "temperature must be at most 1.5";

interface Shape {
  readonly name: string;
  readonly body: unknown;
  /** Behind what stands before the reason. */
  readonly told?: string;
  readonly type?: string;
  readonly report?: string;
}

const inner = { error: { message: REASON, type: "invalid_request_error", code: "bad" } };
const fault = {
  loc: ["body", "temperature"],
  msg: "Input should be less than or equal to 1.5",
  type: "x",
  input: 9,
};
const FAULT = "body.temperature: Input should be less than or equal to 1.5";

const SHAPES: readonly Shape[] = [
  { name: "OpenAI's", body: inner },
  { name: "Anthropic's", body: { type: "error", error: { type: "invalid_request_error", message: REASON } } },
  { name: "Google's list", body: [{ error: { code: 400, message: REASON, status: "INVALID_ARGUMENT" } }] },
  { name: "a status of gRPC's", body: { code: 3, message: REASON, details: [] } },
  { name: "AWS's", body: { message: REASON } },
  {
    name: "AWS's, with a capital",
    body: { __type: "com.amazon.coral.validate#ValidationException", Message: REASON },
  },
  { name: "FastAPI's text", body: { detail: REASON } },
  { name: "FastAPI's list", body: { detail: [fault] }, told: FAULT },
  {
    name: "two faults",
    body: { detail: [fault, { loc: ["body", "n"], msg: "too many" }] },
    told: `${FAULT}; body.n: too many`,
  },
  {
    name: "Mistral's",
    body: { object: "error", message: { detail: [fault] }, type: "invalid_request_error" },
    told: FAULT,
  },
  { name: "vLLM's", body: { object: "error", message: REASON, type: "BadRequestError", code: 400 } },
  { name: "xAI's", body: { code: "Client specified an invalid argument", error: REASON } },
  { name: "Ollama's", body: { error: REASON } },
  { name: "texts in errors", body: { errors: [REASON] } },
  {
    name: "Cloudflare's errors",
    body: { success: false, errors: [{ code: 7003, message: REASON }], messages: [], result: {} },
  },
  {
    name: "ASP.NET's errors by field",
    body: {
      type: "https://tools.ietf.org/html/rfc9110",
      title: "One or more validation errors occurred.",
      status: 400,
      errors: { temperature: ["must be at most 1.5"] },
    },
    told: "One or more validation errors occurred.: temperature: must be at most 1.5",
  },
  {
    name: "problem details",
    body: { type: "about:blank", title: "Bad Request", status: 400, detail: REASON },
  },
  {
    name: "Spring's",
    body: { timestamp: 1, status: 400, error: "Bad Request", message: REASON, path: "/v1" },
  },
  { name: "msg", body: { code: 400, msg: REASON } },
  { name: "error_message", body: { error_message: REASON } },
  { name: "error_msg", body: { error_code: 336, error_msg: REASON } },
  { name: "errorMessage", body: { errorType: "x", errorMessage: REASON } },
  { name: "success and message", body: { success: false, message: REASON } },
  { name: "MiniMax's", body: { base_resp: { status_code: 2013, status_msg: REASON } } },
  { name: "an error within an error", body: { error: inner } },
  { name: "an object as message", body: { error: { message: { error: REASON }, code: 400 } } },
  {
    name: "JSON as message",
    body: { error: { message: JSON.stringify(inner), code: 400 } },
    report: "google-gemini/gemini-cli#4231",
  },
  {
    name: "LiteLLM's",
    body: {
      error: {
        message: `litellm.BadRequestError: OpenAIException - ${JSON.stringify(inner)}. Received Model Group=secret-group\nAvailable Model Group Fallbacks=None`,
        type: "None",
        param: "None",
        code: "400",
      },
    },
    report: "anthropics/claude-code#11302",
  },
  {
    name: "another router's",
    body: {
      error: {
        message: `Error from provider(mimo,m: 400): ${JSON.stringify(inner)}Error: at x`,
        code: "provider_response_error",
      },
    },
    report: "musistudio/claude-code-router#583",
  },
  {
    name: "Python's",
    body: { error: { message: `Error code: 400 - {'error': {'message': "${REASON}", 'code': None}}` } },
  },
  {
    name: "OpenRouter's raw text",
    body: {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: { raw: JSON.stringify(inner), provider_name: "P" },
      },
    },
  },
  {
    name: "OpenRouter's raw object",
    body: { error: { message: "Provider returned error", code: 400, metadata: { raw: inner } } },
    report: "truefoundry/models#873",
  },
  {
    name: "MiMo's param",
    body: { error: { message: "Param Incorrect", param: REASON, code: "400" } },
    told: `Param Incorrect: ${REASON}`,
    report: "AQBot-Desktop/AQBot#93",
  },
  {
    name: "details of a gateway",
    body: { error: "DeepSeek API error: 400", status: 500, details: inner },
    report: "pollinations/pollinations#1290",
  },
  { name: "a text", body: REASON, type: "text/plain" },
  { name: "a text as JSON", body: JSON.stringify(REASON) },
  {
    name: "a page's title",
    body: `<html><head><title>${REASON}</title></head><body>http://10.0.0.5</body></html>`,
    type: "text/html",
  },
  {
    name: "AWS's XML",
    body: `<?xml version="1.0"?><Error><Code>X</Code><Message>${REASON}</Message></Error>`,
    type: "application/xml",
  },
  {
    name: "an event",
    body: `: PROCESSING\n\nevent: error\ndata: ${JSON.stringify(inner)}\n\n`,
    type: "text/event-stream",
  },
  {
    name: "a body that was cut",
    body: JSON.stringify({ error: { message: REASON, input: "x".repeat(99) } }).slice(0, 90),
  },
  { name: "a message that was cut", body: `{"error":{"type":"x","message":"${REASON}` },
  {
    name: "more than is read",
    body: JSON.stringify({ detail: [{ ...fault, input: "x".repeat(200_000) }] }),
    told: FAULT,
  },
  {
    name: "a stack trace",
    body: {
      detail: `Traceback (most recent call last):\n  File "/srv/app/x.py", line 1\nValueError: ${REASON}`,
    },
    told: `ValueError: ${REASON}`,
  },
];

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
