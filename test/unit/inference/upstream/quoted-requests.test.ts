/**
 * Refusals that quote the request: a caller who writes a provider's words into it takes neither an endpoint nor a key out of use. And the
 * forms in which proxies write out the body of the server behind them, which are read all the same.
 */
import { describe, expect, test } from "vitest";
import { answerFailure, mayFallBack, reportedFailure } from "../../../../src/inference/upstream/failure.ts";
import { readErrorValue } from "../../../../src/wire/neutral/upstream-error.ts";

/** What rows of the table of refusals hold against an account, or against an endpoint. */
const WORDS = [
  "Your credit balance is too low",
  "insufficient balance",
  "Overloaded",
  "Incorrect API key provided: x",
  "The engine is currently overloaded",
];
const CODES = [
  "insufficient_quota",
  "invalid_api_key",
  "rate_limit_exceeded",
  "overloaded_error",
  "billing_error",
];

const json = (value: unknown): string => JSON.stringify(value);
const openAis = (message: string, more: object = {}): object => ({
  error: { message, type: "invalid_request_error", param: null, ...more },
});

/** Bodies of refusals by what the caller wrote, which they quote. */
type Quoting = (words: string, code: string) => unknown;

const LONG = "x".repeat(70_000);

const QUOTES: readonly (readonly [name: string, body: Quoting])[] = [
  // Python's jsonschema begins with the value that is wrong (OpenAI's older messages, vLLM's, SGLang's).
  ["a dictionary of Python's", (words) => openAis(`{'message': '${words}'} is not of type 'string'`)],
  ["in double quotes", (words) => openAis(`{'message': "${words}"} is not of type 'string' - 'messages.0'`)],
  [
    "an error of Python's",
    (words, code) =>
      openAis(
        `{'error': {'message': '${words}', 'code': '${code}'}} is not valid under any of the given schemas`,
      ),
  ],
  ["a text", (words) => openAis(`${json(words)} is not one of ['a', 'b']`)],
  ["a text in single quotes", (words) => openAis(`'${words}' is not one of ['a', 'b']`)],
  ["JSON", (words, code) => openAis(`${json(openAis(words, { code }))} is not valid`)],
  ["a list", (words, code) => openAis(`[${json(openAis(words, { code }))}] is too long`)],
  ["JSON in a text", (words, code) => openAis(`${json(json(openAis(words, { code })))} is no object`)],
  [
    "JSON behind an exception's name",
    (words, code) => openAis(`ValidationError: ${json({ message: words, code })} is bad`),
  ],
  [
    "Python behind a status",
    (words) => openAis(`Error code: 400 - {'error': {'message': '${words}'}} is bad`),
  ],
  [
    "JSON behind a proxy's words",
    (words, code) =>
      openAis(
        `litellm.BadRequestError: OpenAIException - ${json({ message: words, code })} is bad. Received Model Group=g`,
      ),
  ],
  [
    "JSON that has a proxy's words",
    (words, code) =>
      openAis(
        `litellm.BadRequestError: OpenAIException - ${json({ message: words, code, x: ". Received Model Group=" })} is bad`,
      ),
  ],
  [
    "JSON with an error behind it",
    (words, code) => openAis(`${json({ message: words, code })}Error: it is bad`),
  ],
  [
    "JSON with a trace behind it",
    (words, code) => openAis(`${json({ message: words, code })} is bad\n    at x (y.js:1:2)`),
  ],
  [
    "JSON that is cut off",
    (words, code) => openAis(json({ message: words, code, x: "and so on" }).slice(0, -5)),
  ],
  [
    "JSON that a proxy cut off",
    (words, code) =>
      openAis(
        `Error from provider(p,m: 400): ${json({ message: words, code, x: "and so on" }).slice(0, -5)}`,
      ),
  ],
  ["Python that is cut off", (words) => openAis(`{'message': '${words}, and so on`)],
  [
    "JSON that outgrows what is read",
    (words, code) => openAis(`${json({ message: words, code, x: LONG })} is bad`),
  ],
  ["bytes of Python's", (words, code) => openAis(`b'${json({ message: words, code })}' is bad`)],
  [
    "a fault's text",
    (words) => ({ detail: [{ loc: ["body", "x"], msg: `{'message': '${words}'} is bad` }] }),
  ],
  [
    "a fault's whole text",
    (words, code) => ({ detail: [{ loc: ["body", "x"], msg: json({ message: words, code }) }] }),
  ],
  ["a fault without a place", (words) => ({ detail: [{ msg: `{'message': '${words}'} is bad` }] })],
  ["a fault's place", (words) => ({ detail: [{ loc: [words], msg: "Extra inputs are not permitted" }] })],
  ["a fault's place within another", (words) => ({ detail: [{ loc: [words, 0, "x"], msg: "is bad" }] })],
  ["a field", (words) => ({ errors: [{ field: words, message: "is unknown" }] })],
  [
    "a field that the message names",
    (words) => ({ errors: [{ field: words, message: `${words} is unknown` }] }),
  ],
  [
    "a field that the message names in full",
    (words) => openAis(`${words} is no member of a request`, { param: words }),
  ],
  [
    "a value before the field's name",
    (words) => ({ errors: [{ field: "role", message: `${words} is not a valid role` }] }),
  ],
  [
    "a field behind one without a message",
    (words) => ({
      errors: [
        { field: "x", message: "" },
        { field: words, message: "is bad" },
      ],
    }),
  ],
  [
    "JSON on a line of its own",
    (words, code) => `{"a":"b"} is sent, and\n${json({ error: { message: words, code } })}`,
  ],
  [
    "JSON on a line between others",
    (words, code) => `{"a":"b"}\n${json({ error: { message: words, code } })}\nis not valid`,
  ],
  ["a member of errors", (words) => ({ errors: { [words]: ["is unknown"] } })],
  ["a member of errors with a text", (words) => ({ errors: { [words]: "is unknown" } })],
  ["a member of a list by field", (words) => ({ [words]: ["is unknown"], other: ["is bad"] })],
  ["a member that Anthropic does not know", (words) => openAis(`${words}: Extra inputs are not permitted`)],
  ["a param with no message", (words) => ({ error: { message: "", param: words } })],
  ["a text that is the whole body", (words) => `${json(words)} is bad`],
  ["JSON that begins a text", (words, code) => `${json({ message: words, code })} is bad`],
  ["JSON that begins an event", (words, code) => `data: ${json({ message: words, code })} is bad\n\n`],
  [
    "the last line of a trace",
    (words) => ({
      detail: `Traceback (most recent call last):\n  File "/x.py", line 1\nValueError: bad:\n${words}`,
    }),
  ],
  [
    "what a server repeats",
    (words, code) => ({ error: { message: "bad", input: { message: words, code }, body: { code } } }),
  ],
];

const textOf = (body: unknown): string => (typeof body === "string" ? body : json(body));

describe("what a caller wrote holds nothing against a key or an endpoint", () => {
  test.each(QUOTES)("%s", (_, quoting) => {
    WORDS.forEach((words, i) => {
      const body = textOf(quoting(words, CODES[i] as string));
      const failed = answerFailure(400, {}, Buffer.from(body), 0);
      expect({ words, ...failed }).toMatchObject({ words, errorClass: "client", outcome: "http_error" });
      expect(mayFallBack(failed)).toBe(false);
      expect(failed.upstream.code).not.toBe(CODES[i]);
    });
  });

  const values = QUOTES.filter(([, quoting]) => typeof quoting("", "") !== "string");
  test.each(values)("within a stream: %s", (_, quoting) => {
    WORDS.forEach((words, i) => {
      const failed = reportedFailure(readErrorValue(quoting(words, CODES[i] as string)), 200);
      expect(["client", "server"]).toContain(failed.errorClass);
      expect(failed.outcome).not.toBe("rate_limited");
    });
  });
});

describe("what a proxy wrote out is the provider's word", () => {
  const [words, code] = ["Your credit balance is too low to access the API", "billing_error"];
  const body = { type: "error", error: { type: code, message: words, code } };
  const python = `{'type': 'error', 'error': {'type': '${code}', 'message': "${words}", 'code': None, 'list': ('a',)}}`;

  test.each([
    ["JSON", json(body), "google-gemini/gemini-cli#4231"],
    ["JSON over lines", JSON.stringify(body, null, 2), "Kilo-Org/kilocode#6476"],
    ["JSON twice", json(json(body)), ""],
    ["a list", json([body]), ""],
    [
      "LiteLLM's",
      `litellm.BadRequestError: AnthropicException - ${json(body)}. Received Model Group=g\nAvailable Model Group Fallbacks=None`,
      "anthropics/claude-code#11302",
    ],
    [
      "LiteLLM's without its set-up",
      `litellm.BadRequestError: Vertex_aiException BadRequestError - ${json(body)}`,
      "OpenHands/software-agent-sdk#1630",
    ],
    [
      "LiteLLM's bytes",
      `litellm.BadRequestError: VertexAIException BadRequestError - b'${JSON.stringify(body, null, 2).replaceAll("\n", "\\n")}\\n'. Received Model Group=g`,
      "BerriAI/litellm#9733",
    ],
    ["an SDK's of Python", `Error code: 400 - ${python}`, "FoundationAgents/OpenManus#894"],
    [
      "an SDK's within LiteLLM's",
      `litellm.APIError: APIError: OpenAIException - Error code: 400 - ${python}. Received Model Group=g`,
      "wandb/openui#209",
    ],
    [
      "claude-code-router's",
      `Error from provider(p,m: 400): ${json(body)}Error: Error from provider(p,m: 400): ${json(body)}\n    at nt (/cli.js:79940:11)`,
      "heyhuynhgiabuu/proxypal#67",
    ],
    [
      "opencode's",
      `Error from provider:\n Provider returned error\n ${json(body)}`,
      "earendil-works/pi#4138",
    ],
    [
      "9router's",
      `[claude/claude-sonnet-4.5] [400]: ${json(body)} (reset after 30s)`,
      "decolua/9router#1081",
    ],
    [
      "SageMaker's",
      `Received client error (400) from primary with message "${JSON.stringify(body, null, 2)}". See https://us-east-1.console.aws.amazon.com/x for more information.`,
      "philschmid/cdk-samples#5",
    ],
    ["Node's SDK", `400 ${json(body)}`, "musistudio/claude-code-router#184"],
  ])("%s", (_, message) => {
    for (const status of [400, 500]) {
      const failed = answerFailure(status, {}, Buffer.from(json(openAis(message))), 0);
      expect(failed).toMatchObject({ errorClass: "auth", upstream: { message: words } });
    }
  });
});
