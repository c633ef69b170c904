/**
 * Runs the conformance cases of one client format over every upstream dialect: a whole gateway between real sockets. Each
 * answer is compared with what the upstream itself says to the very request that it got, whole and streamed.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ask, AskPart, Heard, HeardChoice, Json, Seen, Told } from "../../support/conformance/ask.ts";
import type { AnswerCase } from "../../support/conformance/cases.ts";
import type { Client, ClientName, Upstream } from "../../support/conformance/ends.ts";
import { type Ending, type FailureCase, failuresOf } from "../../support/conformance/failures.ts";
import {
  answersOn,
  CLIENTS,
  failuresOn,
  PART,
  UPSTREAMS,
  upstreamLack,
  upstreamsIn,
} from "../../support/conformance/pairs.ts";
import { type Answer, type TestEndpoint, type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { expectSame } from "../../support/same.ts";
import { expected, isRefused, saidIn } from "./expected.ts";

let gateway: TestGateway;

const MODES = [
  ["whole", false],
  ["streamed", true],
] as const;

/** nano-USD a token, as the catalog has them: the cost is worked out anew here. */
const PRICES: Readonly<Record<string, { input: number; output: number; cacheRead: number }>> = {
  "test/model": { input: 1_000, output: 2_000, cacheRead: 1_000 },
};
const SIMULATED = { input: 150, output: 600, cacheRead: 75 };

/** Each failure has an endpoint of its own: what one does to its health is nobody else's. */
const faulty = (upstream: Upstream, failure: FailureCase, stream: boolean): string =>
  `${upstream.name}-${failuresOf(upstream.name).indexOf(failure)}-${stream ? "stream" : "whole"}`;

const endpoints: readonly TestEndpoint[] = [
  {
    provider: "claude-on-bedrock",
    entry: { dialects: ["converse"], upstream_model: "anthropic.claude-sonnet-4-5-20250929-v1:0" },
  },
  ...UPSTREAMS.flatMap((upstream) =>
    failuresOf(upstream.name).flatMap((failure) =>
      [false, true].map((stream) => ({
        provider: faulty(upstream, failure, stream),
        instruction: { ...failure.instruction, ...failure.words?.[upstream.name] },
        entry: { dialects: [upstream.name] },
      })),
    ),
  ),
];

interface Exchanged {
  readonly heard: Heard;
  readonly seen: Seen;
  readonly told: Told;
  readonly source: string;
}

/** One file a format: `test/gateway/conformance/<format>.test.ts`. */
export function conformance(name: ClientName): void {
  const client = CLIENTS[name];
  beforeAll(async () => {
    gateway = await testGateway({
      endpoints: endpoints.map((endpoint) => ({
        ...endpoint,
        entry: {
          ...endpoint.entry,
          capabilities: ["tools", "parallel_tools", "json_schema", "reasoning", "cache"],
        },
      })),
    });
  });
  afterAll(() => gateway.stop());

  describe.each(upstreamsIn(PART, name).map((upstream) => [upstream.name, upstream] as const))(
    `${name} to %s`,
    (_, upstream) => {
      for (const one of answersOn(client, upstream)) {
        const lack = upstreamLack(client, upstream, one);
        if (lack === undefined) test(one.name, () => answers(client, upstream, one));
        else test(`${one.name}: no place for it`, () => doesWithout(client, upstream, one));
      }
      for (const failure of failuresOn(client, upstream)) {
        test(`failure: ${failure.name}`, () => fails(client, upstream, failure));
      }
      test("an option of the format's own", () => ownOption(client, upstream));
      test("strict: an option of the format's own", () => strictly(client, upstream));
    },
  );

  // No upstream hears of them.
  if (PART === "rest") return;
  describe(`${name} to none`, () => {
    test("an unknown model", () => unknownModel(client));
    test("a body that is no request", () => noRequest(client));
  });
}

async function answers(client: Client, upstream: Upstream, one: AnswerCase): Promise<void> {
  const [whole, streamed] = [
    await inMode(client, upstream, one, false),
    await inMode(client, upstream, one, true),
  ];
  expectSame(streamed.seen, whole.seen, "streamed or not, the upstream is told the same");
  expectSame(contentOf(streamed.heard), contentOf(whole.heard), "the stream adds up to the whole answer");
  expectSame(streamed.heard.usage, whole.heard.usage);
  expectSame(streamed.heard.svc.cost, whole.heard.svc.cost);
  expectSame(streamed.heard.svc.warnings, whole.heard.svc.warnings);
  for (const exchanged of [whole, streamed]) one.check?.(exchanged);
}

const contentOf = ({ choices, model }: Heard) => ({ choices, model });

/** The case in one mode, to its last request, held to what is true of every case. */
async function inMode(
  client: Client,
  upstream: Upstream,
  one: AnswerCase,
  stream: boolean,
): Promise<Exchanged> {
  const model = one.needs.includes("thinking") ? upstream.thinker : upstream.model;
  const first = await exchange(client, upstream, withOnly(one.ask, model), model, stream);
  check(client, upstream, one, one.ask, first);
  if (one.next === undefined) return first;
  const ask = one.next(first.heard);
  const second = await exchange(client, upstream, withOnly(ask, model), model, stream);
  check(client, upstream, { ...one, calls: 0 }, ask, second);
  if (one.needs.includes("thinking") && upstream.seals) expect(first.told.seals).not.toEqual([]);
  expectSame(second.seen.seals, first.told.seals, "signatures go back to the byte, in order");
  return second;
}

const withOnly = (ask: Ask, model: string): Ask =>
  model === "test/model" ? { ...ask, only: "claude-on-bedrock" } : ask;

function check(client: Client, upstream: Upstream, one: AnswerCase, ask: Ask, exchanged: Exchanged): void {
  const { heard, seen, told } = exchanged;
  const wanted = expected(ask, client, upstream);
  const wantedOf = Object.keys(wanted).map((name) => [name, seen[name as keyof Seen]]);
  expectSame(Object.fromEntries(wantedOf), wanted, "the upstream is told what was asked");
  if (one.mayWarn === undefined) expectSame(heard.svc.warnings, []);
  if (told.usage !== undefined) expectSame(heard.usage, told.usage);
  expectSame(heard.choices.length, told.choices.length);
  if (one.calls !== undefined) expectSame(heard.choices[0]?.calls.length, one.calls);
  if (one.refusal !== undefined) {
    expect(isRefused(heard.choices[0] as HeardChoice, one.refusal)).toBe(true);
    return;
  }
  expectSame(
    heard.choices,
    told.choices.map((choice) => saidIn(client, choice)),
  );
}

/** One call through the gateway, with what the upstream got and says to it, and what is recorded. */
async function exchange(
  client: Client,
  upstream: Upstream,
  ask: Ask,
  model: string,
  stream: boolean,
): Promise<Exchanged> {
  const { simulator } = gateway;
  const before = simulator.totalCalls;
  const answer = await post(client, client.request(ask, model, stream));
  expectSame(answer.status, 200, answer.text);
  expectSame(simulator.totalCalls, before + 1, "one call upstream");
  const sent = simulator.calls.at(-1);
  if (sent === undefined) throw new Error("the simulator saw no call");
  const body: Json = JSON.parse(sent.body.toString());
  const heard = stream ? client.streamed(answer.text) : client.whole(answer.json);
  const requestId = answer.headers.get("x-svc-request-id") ?? "";
  expectSame([heard.id, heard.svc.requestId, heard.model], [client.idPrefix + requestId, requestId, model]);
  const source = await isRecorded(heard, requestId, model);
  return {
    heard,
    seen: upstream.seen(body),
    told: upstream.told(await wholeAnswer(upstream, sent, body)),
    source,
  };
}

const post = (client: Client, body: object) =>
  gateway.call("POST", client.path, { body, headers: client.headers });

/** By path and body. */
const wholeAnswers = new Map<string, Json>();

/** The same request again, asked for a whole answer, once: equal requests get equal answers, and most come in both modes. */
async function wholeAnswer(
  upstream: Upstream,
  sent: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  body: Json,
): Promise<Json> {
  const path = sent.path
    .replace("converse-stream", "converse")
    .replace("streamGenerateContent?alt=sse", "generateContent");
  const { stream: _, stream_options: __, ...rest } = body;
  const text = JSON.stringify(rest);
  const known = wholeAnswers.get(path + text);
  if (known !== undefined) return known;
  const names = ["authorization", "anthropic-version", "x-amz-date", "x-goog-api-key", "x-api-key"];
  const headers = Object.fromEntries(
    names.flatMap((name) => (sent.headers[name] ? [[name, sent.headers[name]]] : [])),
  );
  const response = await httpCall("POST", `${gateway.simulator.url}${path}`, {
    headers: { ...headers, "content-type": "application/json" },
    body: text,
  });
  expect(response?.status, `asked again, ${upstream.name} answers`).toBe(200);
  const answer: Json = JSON.parse(response?.text ?? "");
  wholeAnswers.set(path + text, answer);
  return answer;
}

/** The record shows what the answer said, and the cost is that of its usage. Returns the source of the usage. */
async function isRecorded({ usage, svc }: Heard, requestId: string, model: string): Promise<string> {
  const [{ json: generation }, { json: record }] = (await Promise.all(
    ["generation", "requests"].map((what) => gateway.call("GET", `/v1/${what}/${requestId}`)),
  )) as [Answer, Answer];
  const { provider, endpoint_id: endpointId } = generation.resolved;
  const wanted = {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    reasoning_tokens: usage.reasoning,
  };
  expectSame(
    [generation.usage, generation.cost, generation.warnings, provider, endpointId],
    [wanted, svc.cost, svc.warnings, svc.provider, svc.endpointId],
  );
  const price = PRICES[model] ?? SIMULATED;
  const fresh = usage.input - usage.cacheRead - usage.cacheWrite;
  const lines = [
    fresh * price.input,
    usage.cacheRead * price.cacheRead,
    usage.cacheWrite * price.input,
    usage.output * price.output,
  ];
  // Writes of two lengths of stay are two lines, each rounded: a micro more or less.
  const total = lines.reduce((sum, nano) => sum + Math.round(nano / 1000), 0);
  const isExact = Math.abs(svc.cost.total_micro_usd - total) <= (usage.cacheWrite > 0 ? 1 : 0);
  expectSame(isExact, true, `${svc.cost.total_micro_usd} µUSD for ${total}`);
  expectSame([record.status, record.cost_micro], ["ok", svc.cost.total_micro_usd]);
  return record.usage_source;
}

/** What the upstream has no place for is named in a warning, if anything is lost by it; `strict` refuses instead. */
async function doesWithout(client: Client, upstream: Upstream, one: AnswerCase): Promise<void> {
  const lack = upstreamLack(client, upstream, one);
  const { isTold = false, isRefused = false } = (lack && upstream.lacks[lack]) ?? {};
  const pointer = lack && client.pointers[lack];
  // The simulator refuses a stop sequence that does not reach it, so it is not told to end at one.
  const ask = { ...one.ask, turns: one.ask.turns.map((turn) => ("user" in turn ? plain(turn) : turn)) };
  for (const [mode, stream] of MODES) {
    if (isRefused) {
      await isRefusedWithPointer(client, ask, upstream, stream, pointer ?? "");
      continue;
    }
    const { heard } = await exchange(client, upstream, ask, upstream.model, stream);
    const named = heard.svc.warnings.some((warning) => warning.startsWith(`dropped: ${pointer}`));
    expect(named, `${mode}: ${heard.svc.warnings.join(", ")}`).toBe(isTold);
    if (isTold) await isRefusedWithPointer(client, { ...ask, strict: true }, upstream, stream, pointer ?? "");
  }
}

const plain = ({ user }: { readonly user: readonly AskPart[] }) => ({
  user: user.map((part) =>
    "text" in part ? { ...part, text: part.text.replace(/ \[\[sim.*\]\]/, "") } : part,
  ),
});

async function isRefusedWithPointer(
  client: Client,
  ask: Ask,
  upstream: Upstream,
  stream: boolean,
  pointer: string,
) {
  const before = gateway.simulator.totalCalls;
  const answer = await post(client, client.request(ask, upstream.model, stream));
  const error = client.errorOf(answer.json);
  expect(answer.status).toBe(400);
  expect(error.code).toBe("capability_not_supported");
  expect(error.param.startsWith(pointer), error.param).toBe(true);
  expect(gateway.simulator.totalCalls, "nobody is asked").toBe(before);
}

const OWN: Ask = { turns: [{ user: [{ text: "Hello" }] }], own: true };

async function ownOption(client: Client, upstream: Upstream): Promise<void> {
  const { pointer, keptBy } = client.own;
  const warnings = keptBy.includes(upstream.name) ? [] : [`dropped: ${pointer}`];
  for (const [mode, stream] of MODES) {
    const { heard } = await exchange(client, upstream, OWN, upstream.model, stream);
    expect(heard.svc.warnings, mode).toEqual(warnings);
    const name = pointer.slice(pointer.lastIndexOf("/") + 1);
    const sent = gateway.simulator.calls.at(-1)?.body.toString() ?? "";
    expect(sent.includes(`"${name}"`), mode).toBe(keptBy.includes(upstream.name));
  }
}

async function strictly(client: Client, upstream: Upstream): Promise<void> {
  const { pointer, keptBy } = client.own;
  for (const [, stream] of MODES) {
    if (keptBy.includes(upstream.name))
      await exchange(client, upstream, { ...OWN, strict: true }, upstream.model, stream);
    else await isRefusedWithPointer(client, { ...OWN, strict: true }, upstream, stream, pointer);
  }
}

async function unknownModel(client: Client): Promise<void> {
  for (const [, stream] of MODES) {
    const answer = await post(client, client.request(OWN, "weir/no-such-model", stream));
    expect([answer.status, client.errorOf(answer.json).code]).toEqual([404, "model_not_found"]);
  }
}

async function noRequest(client: Client): Promise<void> {
  for (const [, stream] of MODES) {
    const { messages: _, input: __, prompt: ___, ...rest }: Json = client.request(OWN, "test/model", stream);
    const answer = await post(client, { ...rest, messages: 7, input: 7, prompt: 7 });
    const error = client.errorOf(answer.json);
    expect([answer.status, error.code]).toEqual([400, "invalid_value"]);
    expect(error.param).toMatch(/^\/(messages|input|prompt)/);
  }
}

async function fails(client: Client, upstream: Upstream, failure: FailureCase): Promise<void> {
  for (const [mode, stream] of MODES) {
    const ask = { ...OWN, own: false, only: faulty(upstream, failure, stream) };
    const answer = await post(client, client.request(ask, "test/model", stream));
    const ending = stream ? failure.stream : (failure.wholeOf?.[upstream.name] ?? failure.whole);
    expect(answer.status, `${mode}: ${answer.text}`).toBe(ending.status);
    const error = ending.status === 200 ? undefined : client.errorOf(answer.json);
    const code = error === undefined ? client.streamError(answer.text) : error.code;
    expect(code, `${mode}: ${answer.text}`).toBe(ending.code);
    if (failure.message !== undefined) expect(error.message).toContain(failure.message);
    else expect(answer.text, "a fault is not told in the upstream's words").not.toMatch(/sk-123|Traceback/);
    if (failure.retryAfter !== undefined) expect(answer.headers.get("retry-after")).toBe(failure.retryAfter);
    await failureIsRecorded(answer.headers.get("x-svc-request-id") ?? "", ending);
  }
}

/** What was delivered is billed, and nothing else. */
async function failureIsRecorded(requestId: string, ending: Ending): Promise<void> {
  const { json } = await gateway.call("GET", `/v1/requests/${requestId}`);
  expect(json).toMatchObject({ status: "error", error_code: ending.code, http_status: ending.status });
  expect(json.cost_micro > 0).toBe(ending.status === 200);
}
