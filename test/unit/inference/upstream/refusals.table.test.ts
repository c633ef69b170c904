/** The table of refusals: every row by answers as providers send them (`test/fixtures/refusals`), whole and within a stream. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { callerError } from "../../../../src/inference/exchange/failure.ts";
import {
  answerFailure,
  mayFallBack,
  reportedFailure,
  type UpstreamFailure,
  withoutCredential,
} from "../../../../src/inference/upstream/failure.ts";
import type { Meaning, Refusal } from "../../../../src/inference/upstream/refusals/refusal.ts";
import { HOST_ROWS } from "../../../../src/inference/upstream/refusals/rows/hosts.ts";
import { ROUTER_ROWS } from "../../../../src/inference/upstream/refusals/rows/routers.ts";
import { SERVED_ROWS } from "../../../../src/inference/upstream/refusals/rows/served.ts";
import { TABLE } from "../../../../src/inference/upstream/refusals/table.ts";
import { readErrorBody, readErrorValue } from "../../../../src/wire/neutral/upstream-error.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";

/** An answer of a provider's, and the row that it is. */
interface Fixture extends Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const FOLDER = new URL("../../../fixtures/refusals/", import.meta.url);
const FIXTURES = readdirSync(FOLDER).flatMap((file): Fixture[] =>
  JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")),
);

const told = ({ row, meaning, tokens, maximum, answer }: Fixture): Refusal => ({
  row,
  meaning,
  ...(tokens !== undefined && { tokens }),
  ...(maximum !== undefined && { maximum }),
  ...(answer !== undefined && { answer }),
});
const failureOf = ({ status, headers = {}, body }: Fixture) =>
  answerFailure(status, headers, Buffer.from(body), 0);

const REPORTED = FIXTURES.filter(({ row, body }) => !row.startsWith("http.") && /^[[{]/.test(body));
/** The fixture's body as an event of a stream. */
const reportedOf = ({ body, headers }: Fixture) => {
  const value: unknown = JSON.parse(body);
  const error = readErrorValue(Array.isArray(value) ? value[0] : value);
  const kind = headers?.["x-amzn-errortype"]?.split(":", 1)[0];
  // In an event stream the exception's name is a header of the event.
  return reportedFailure(kind === undefined ? error : { ...error, type: kind }, 200);
};
const heard = (failed: UpstreamFailure) =>
  callerError(withoutCredential(failed, undefined), { model: undefined, plan: undefined, lane: undefined });

test("every row has an answer that it matches", () => {
  const matched = new Set(FIXTURES.map(({ row }) => row));
  expect(TABLE.map(({ id }) => id).filter((id) => !matched.has(id))).toEqual([]);
});

test("ids are one row's alone, and say whose it is", () => {
  const ids = TABLE.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z\d]+\.[a-z_]+$/);
});

test.each(
  FIXTURES.map(
    (fixture) => [`${fixture.row} ${fixture.status}: ${fixture.body.slice(0, 90)}`, fixture] as const,
  ),
)("%s", (_, fixture) => {
  expect(failureOf(fixture).refusal).toEqual(told(fixture));
});

const CLASSES: Readonly<Record<Meaning, string>> = {
  firewall: "server",
  context_overflow: "client",
  output_limit: "client",
  unknown_model: "client",
  unsupported_parameter: "client",
  invalid_value: "client",
  content_policy: "client",
  tier: "client",
  quota: "auth",
  credential: "auth",
  region: "server",
  overloaded: "capacity",
  rate_limit: "capacity",
};
/** Another endpoint may take what this one refuses. */
const ELSEWHERE = new Set<Meaning>([
  "firewall",
  "unknown_model",
  "tier",
  "quota",
  "credential",
  "region",
  "overloaded",
  "rate_limit",
]);

describe("class and fallback follow from the meaning, whatever the status", () => {
  test.each(FIXTURES.map((fixture) => [`${fixture.row} ${fixture.status}`, fixture] as const))(
    "%s",
    (_, fixture) => {
      const failed = failureOf(fixture);
      expect(failed.errorClass).toBe(CLASSES[fixture.meaning]);
      expect(mayFallBack(failed)).toBe(ELSEWHERE.has(fixture.meaning) || fixture.status === 404);
    },
  );

  test.each(REPORTED.map((fixture) => [`${fixture.row} ${fixture.status}`, fixture] as const))(
    "within a stream: %s",
    (_, fixture) => {
      const failed = reportedOf(fixture);
      expect(failed.refusal).toEqual(told(fixture));
      expect(failed.errorClass).toBe(CLASSES[fixture.meaning]);
    },
  );

  test.each(REPORTED.map((fixture) => [`${fixture.row} ${fixture.status}`, fixture] as const))(
    "the client hears the same of it by its status and within a stream: %s",
    (_, fixture) => {
      const { code, retryable, message } = heard(failureOf(fixture));
      // A saturated provider's words are told where it says them under 429 or in a stream; 503 is often a proxy's.
      const isSaid = fixture.meaning !== "overloaded";
      expect(heard(reportedOf(fixture))).toMatchObject({ code, retryable, ...(isSaid && { message }) });
    },
  );
});

/** Meanings that hold every caller off a key, or off an endpoint. */
const HELD: ReadonlySet<Meaning> = new Set(["quota", "credential", "region"]);
const FUNDS =
  "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";

describe("the caller's own text, which messages quote", () => {
  const failureWith = (status: number, message: string, more: object = {}) =>
    answerFailure(
      status,
      {},
      Buffer.from(JSON.stringify({ error: { message, type: "invalid_request_error", ...more } })),
      0,
    );

  test.each([
    "Invalid value: 'Your credit balance is too low'",
    "Invalid value: Your credit balance is too low",
    'Invalid \'messages[0].content\': {"error":{"message":"Your credit balance is too low"}}',
    "the tool 'Loading model' is unknown",
    "Unexpected text. The engine is currently overloaded, please try again later",
    "Incorrect API key provided: sk-abc",
    "litellm says: The engine is currently overloaded",
    "Error code: 400 - {'error': {'input': \"'message': 'Your credit balance is too low'\"}}",
    `'${FUNDS}' is not one of ['auto', 'none']`,
    `${FUNDS} is not a valid model ID`,
    `{'message': '${FUNDS}'} is not of type 'string'`,
    `{'error': {'message': "${FUNDS}"}} is too short - 'messages'`,
    `litellm.BadRequestError: OpenAIException - {'message': '${FUNDS}'} is not of type 'string'`,
    `{"message": "${FUNDS}"} is not of type "string"`,
    '{"code": "insufficient_quota", "message": "x"} is not of type "string"',
    '[{"code": "invalid_api_key", "message": "x"}] is too long',
    // The key that a server of Python's did not find, such as a role.
    `KeyError: "{'code': 'insufficient_quota', 'message': 'x'}"`,
    `litellm.BadRequestError: OpenAIException - KeyError: "{'code': 'invalid_api_key', 'message': 'x'}"`,
    `"{'code': 'insufficient_quota', 'message': 'x'}"`,
    `Error code: 400 - [{'code': 'invalid_api_key', 'message': '${FUNDS}'}, 7] is not valid`,
    // Cut, so that the words behind it are not there.
    `{"message": "${FUNDS}", "more": "aaaaaaaaaaaa…`,
    `{'message': '${FUNDS}', 'more': 'aaaaaaaaaaaa...`,
  ])("holds nothing against a key or an endpoint: %s", (message) => {
    const failed = failureWith(400, message);
    expect(failed.errorClass).toBe("client");
    expect(mayFallBack(failed)).toBe(false);
  });

  test("holds nothing where a member of the request is named, whatever is said of it", () => {
    expect(failureWith(400, FUNDS).refusal?.row).toBe("anthropic.funds");
    expect(failureWith(400, FUNDS, { param: "messages.0.content" }).refusal).toBeUndefined();
  });

  test.each([
    '{"code": "insufficient_quota", "message": "x"} is not of type "string"',
    `{'message': '${FUNDS}'} is not of type 'string'`,
    '[{"code": "invalid_api_key", "message": "x"}, 7] is too long',
  ])("holds nothing either where it is a body of text: %s", (body) => {
    expect(answerFailure(400, {}, Buffer.from(body), 0)).toMatchObject({
      errorClass: "client",
      refusal: undefined,
      upstream: { code: "", type: "", message: body },
    });
  });

  const whole = TABLE.filter(
    ({ id, meaning, codes, words }) =>
      /^(?:anthropic|azure|bedrock|gemini|openai|vertex)\./.test(id) &&
      codes === undefined &&
      words !== undefined &&
      HELD.has(meaning),
  );
  test.each(whole.map(({ id }) => id))("is no part of a message by which %s is known", (id) => {
    const { status, body } = FIXTURES.find(({ row }) => row === id) as Fixture;
    const { message } = readErrorBody(Buffer.from(body));
    expect(failureWith(status, message, { type: "" }).refusal?.row).toBe(id);
    for (const text of [
      `${message} is not a valid model ID`,
      `${message}: Extra inputs are not permitted`,
      `model: ${message}`,
      `'${message}' is not one of ['auto']`,
      `{'message': '${message}'} is not of type 'string'`,
      `[{"message": "${message}"}] is too short`,
    ]) {
      expect(HELD.has(failureWith(400, text).refusal?.meaning as Meaning), text).toBe(false);
    }
  });

  test("what a server repeats of the request is not read", () => {
    const body = {
      detail: [
        {
          type: "string_type",
          loc: ["body", "messages", 0],
          msg: "Input should be a valid string",
          input: { code: "insufficient_quota", message: "x" },
          ctx: { error: { code: "invalid_api_key" } },
        },
      ],
    };
    const failed = answerFailure(422, {}, Buffer.from(JSON.stringify(body)), 0);
    expect(failed).toMatchObject({
      errorClass: "client",
      upstream: { message: "body.messages.0: Input should be a valid string" },
    });
    expect(failed.refusal).toBeUndefined();
  });

  test.each([
    "Invalid value: 'prompt is too long: 5 tokens > 3 maximum'",
    'the tool "input is too long for requested model" is unknown',
  ])("in quotes is no refusal of the request: %s", (message) => {
    expect(failureWith(400, message).refusal).toBeUndefined();
  });

  // What is held against a key has statuses of its own, or codes: its words in an answer to a bad request are the caller's.
  const held = [...HOST_ROWS, ...ROUTER_ROWS, ...SERVED_ROWS].filter(
    ({ meaning, codes }) => codes === undefined && (meaning === "quota" || meaning === "credential"),
  );
  const said = FIXTURES.filter(({ row }) => held.some(({ id }) => id === row)).map(
    ({ row, body }) => [row, readErrorBody(Buffer.from(body)).message] as const,
  );
  test.each(said)("holds nothing against a key, whatever of %s it repeats: %s", (_, message) => {
    for (const text of [
      message,
      `"${message}" is not one of ['auto']`,
      `{'message': '${message.replaceAll("'", "")}'} is not of type 'string'`,
      `Invalid value: ${message}`,
    ]) {
      expect(failureWith(400, text).errorClass, text).toBe("client");
    }
  });

  test("any text is matched quickly", () => {
    const seeds = [
      "this model's maximum context length is ",
      "Requests to a ",
      "#/a/max",
      ": a.a_",
      "{'a': {",
      '{"a": [',
      "prompt is too long: 1",
      "requested 1 tokens ",
      "litellm.A: ",
      "{'error': {'message': '",
      ". ",
      "a".repeat(40),
      "1,1_1",
      "Invalid 'messages",
      "AError: ",
      '{"error":',
      "当前分组下对于模型",
      "your account ",
      "invalid model: a",
      "incorrect api key provided: ",
    ];
    const texts = seeds.map((seed) => seed.repeat(2000).slice(0, 2000));
    const cpuMs = leastProcessorMs(() => {
      for (const text of texts) failureWith(400, text);
    });
    expect(cpuMs).toBeLessThan(200);
  });
});

test("a body too large in bytes is no overflow of the context", () => {
  const body = JSON.stringify({
    type: "error",
    error: { type: "request_too_large", message: "Request exceeds the maximum size" },
  });
  const failed = answerFailure(413, {}, Buffer.from(body), 0);
  expect(failed).toMatchObject({ errorClass: "client", httpStatus: 413 });
  expect(failed.refusal).toBeUndefined();
  expect(reportedFailure(readErrorValue(JSON.parse(body)), 200).refusal).toBeUndefined();
});

test("a proxy that gave up says nothing of the request", () => {
  const body = '{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}';
  for (const status of [408, 499, 504]) {
    const failed = answerFailure(status, {}, Buffer.from(body), 0);
    expect(failed).toMatchObject({ errorClass: "timeout", refusal: undefined });
    expect(mayFallBack(failed)).toBe(true);
  }
});

test("a model that failed at Bedrock is no fault of the request", () => {
  const body = JSON.stringify({ message: "The system encountered an unexpected error during processing." });
  const failed = answerFailure(424, { "x-amzn-errortype": "ModelErrorException" }, Buffer.from(body), 0);
  expect(failed).toMatchObject({ errorClass: "server", refusal: undefined });
  expect(mayFallBack(failed)).toBe(true);
});

describe("a status that is told in a body of another status, or within a stream, means what it means as a status", () => {
  const forms: Readonly<Record<string, (status: number) => unknown>> = {
    "OpenRouter's code": (code) => ({ error: { message: "odd", code } }),
    "LiteLLM's code, and a param": (code) => ({
      error: { message: "odd", code: String(code), type: "None", param: "key" },
    }),
    "Zhipu's body": (code) => ({ code, msg: "odd", success: false }),
    "NVIDIA's status": (status) => ({ status, title: "Odd", detail: "odd" }),
  };
  const rows = TABLE.filter(({ id }) => id.startsWith("http.") && id !== "http.firewall");
  test.each(
    rows.flatMap(({ id, statuses = [] }) =>
      Object.entries(forms).map(([name, of]) => [id, name, of(Number(statuses[0]))] as const),
    ),
  )("%s by %s", (id, _, value) => {
    const failed = reportedFailure(readErrorValue(value), 200);
    expect(failed.refusal?.row).toBe(id);
    expect(failed.errorClass).toBe(CLASSES[failed.refusal?.meaning as Meaning]);
  });

  test("another number is none", () => {
    expect(
      reportedFailure(readErrorValue({ error: { code: 4011, message: "odd" } }), 200).refusal,
    ).toBeUndefined();
  });
});

test("424 is the request's fault where a member of it is named", () => {
  const message = "Error retrieving tool list from MCP server: 'x'. Http status code: 401 (Unauthorized)";
  const error = { message, type: "external_connector_error", param: "tools", code: "http_error" };
  const failed = answerFailure(424, {}, Buffer.from(JSON.stringify({ error })), 0);
  expect(failed).toMatchObject({ errorClass: "client", refusal: undefined });
  expect(mayFallBack(failed)).toBe(false);
  expect(heard(failed)).toMatchObject({ code: "upstream_rejected", message });
});

test("what no row matches is left open, for the operator's count", () => {
  for (const [status, body] of [
    [400, '{"error":{"message":"odd"}}'],
    [422, "odd"],
    [404, ""],
    [500, "{}"],
  ] as const) {
    expect(answerFailure(status, {}, Buffer.from(body), 0).refusal).toBeUndefined();
  }
  expect(reportedFailure(readErrorValue({ message: "odd" }), 200).refusal).toBeUndefined();
});
