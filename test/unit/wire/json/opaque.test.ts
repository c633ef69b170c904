/**
 * JSON that is only carried stays the text that was written, from every client's format to every dialect and back: tool arguments and
 * results, schemas, a provider's options, structured answers. 200 documents a pair, and 10,000 in `npm run fuzz`.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import type { AnswerIdentity, ClientRequest } from "../../../../src/wire/format.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { type Passable, passageTo } from "../../../../src/wire/passages.ts";
import { type Json, sseEvents } from "../../../support/conformance/ask.ts";
import type { ChatUpstreamName, ClientName } from "../../../support/conformance/ends.ts";
import { amount, CUT_STEP } from "../../../support/effort.ts";
import { answerOf } from "../../../support/field/answers.ts";
import { endpoint, provider } from "../../../support/routing/fixtures.ts";
import { SVC, usage } from "../../../support/wire/fixtures.ts";
import {
  OPTION,
  outputSchemaOf,
  PROVIDER,
  REQUESTS,
  streamed,
  stringsIn,
  toolSchemaOf,
  WHOLE,
} from "./bodies.ts";
import { escaped, labelled } from "./documents.ts";

const DOCUMENTS = amount(10_000, 200);
/** Another one has other documents: a failure prints what it had. */
const SEED = Number(process.env.WEIR_SEED ?? 36);

const CLIENTS: readonly ClientName[] = ["chat", "messages", "responses", "generate", "completions"];
/** A model of each dialect, and where the dialect has an object or a schema as it is: elsewhere it is JSON in a string. */
const UPSTREAMS: Readonly<Record<ChatUpstreamName, { model: string; objects: readonly Place[] }>> = {
  chat: { model: "gpt-4.1", objects: ["toolSchema", "outputSchema"] },
  responses: { model: "gpt-4.1", objects: ["toolSchema", "outputSchema"] },
  messages: { model: "claude-sonnet-4-5", objects: ["args", "toolSchema", "outputSchema"] },
  gemini: { model: "gemini-3-pro-preview", objects: ["args", "result", "toolSchema", "outputSchema"] },
  converse: { model: "anthropic.claude-sonnet-4-5-v1:0", objects: ["args", "toolSchema"] },
};
const PAIRS = CLIENTS.flatMap((client) =>
  (Object.keys(UPSTREAMS) as ChatUpstreamName[]).map((upstream) => [client, upstream] as const),
);

type Place = "args" | "result" | "toolSchema" | "outputSchema";

const documents = fc.record({
  args: labelled("args"),
  result: labelled("result"),
  toolSchema: labelled("tool").map(toolSchemaOf),
  outputSchema: labelled("output").map(outputSchemaOf),
  options: labelled("options"),
  /** One in so many characters is written as an escape. */
  escapedEvery: fc.nat(5),
  /** Where streams are cut, as parts of their length. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
});

interface Pair {
  readonly client: ClientName;
  readonly upstream: ChatUpstreamName;
  readonly endpoint: Endpoint;
  readonly passage: Passable["passage"];
}

function pairOf(client: ClientName, upstream: ChatUpstreamName): Pair {
  const to = endpoint("e", {
    provider: { ...provider(PROVIDER), dialects: [upstream] },
    dialects: [upstream],
    upstreamModel: UPSTREAMS[upstream].model,
  });
  const passable = passageTo(FORMATS[client], to);
  if (passable === undefined) throw new Error(`${client} does not reach ${upstream}`);
  return { client, upstream, endpoint: to, passage: passable.passage };
}

const requestOf = (client: ClientName, members: string, stream = false): ClientRequest =>
  FORMATS[client].read(Buffer.from(`{"model":"v/m",${stream ? '"stream":true,' : ""}${members}}`));

const PLAIN: Readonly<Record<ClientName, string>> = {
  chat: '"messages":[{"role":"user","content":"x"}]',
  responses: '"input":"x","store":false',
  messages: '"max_tokens":9,"messages":[{"role":"user","content":"x"}]',
  generate: '"messages":[{"role":"user","content":"x"}]',
  completions: '"prompt":"x"',
};

const identityOf = (client: ClientName): AnswerIdentity => ({
  id: `${FORMATS[client].idPrefix}${SVC.request_id}`,
  requestId: SVC.request_id,
  model: "v/m",
  createdS: 0,
  clock: { now: () => 0 },
  maxEventBytes: 1 << 20,
  maxCaptureBytes: 1 << 20,
});

/** The answers' tools and texts do not depend on the request, but a client's request is needed to write them. */
function heardWhole({ client, upstream, passage }: Pair, said: Said): string {
  const body = Buffer.from(answerOf(upstream, said, false).body as string);
  const answer = passage.whole(body, requestOf(client, PLAIN[client]), identityOf(client));
  return answer.write(usage(1, 1), SVC).toString();
}

type Said = Parameters<typeof answerOf>[1];

const streamOf = (upstream: ChatUpstreamName, said: Said): string =>
  (answerOf(upstream, said, true).parts ?? [])
    .map((part) => Buffer.from(part as string).toString("latin1"))
    .join("");

/** @param cuts where the network cuts the upstream's bytes */
function heardStreamed({ client, passage }: Pair, told: string, cuts: readonly number[]): string {
  const stream = passage.stream(requestOf(client, PLAIN[client], true), identityOf(client));
  let heard = "";
  let from = 0;
  for (const to of [...cuts, told.length].sort((a, b) => a - b)) {
    heard += stream.push(told.slice(from, to));
    from = to;
  }
  heard += stream.end() + stream.close(usage(1, 1), SVC);
  expect(stream.malformed).toBe(0);
  return Buffer.from(heard, "latin1").toString();
}

type Given = typeof documents extends fc.Arbitrary<infer T> ? T : never;

/** They are made a batch at a time; the first is the same for all pairs. */
const BATCH = 200;
const batch = (number: number): Given[] => fc.sample(documents, { seed: SEED + number, numRuns: BATCH });
const FIRST = batch(0);

function everyDocument(check: (given: Given) => void): void {
  for (let number = 0; number * BATCH < DOCUMENTS; number++) {
    for (const [index, given] of (number === 0 ? FIRST : batch(number)).entries()) {
      try {
        check(given);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`${why}\nWEIR_SEED=${SEED + number}, document ${index}`, { cause: error });
      }
    }
  }
}

/** How much is shown of what a document became, before and behind the first difference. */
const SHOWN = 60;

/** `expect` for each of a million documents would take longer than what it looks at. */
function hold(isSo: boolean, what: string, text: string, among: string): void {
  if (isSo) return;
  const label = text.slice(0, text.indexOf(":") + 1);
  const found = Math.max(among.indexOf(label), among.indexOf(JSON.stringify(label).slice(1, -1)));
  let same = 0;
  while (same < text.length && text[same] === among[found + same]) same++;
  const from = Math.max(0, same - SHOWN);
  const show = (whole: string, at: number) => JSON.stringify(whole.slice(at, at + 2 * SHOWN));
  expect.fail(
    `${what} changed, from ${show(text, from)} to ${found < 0 ? show(among, 0) : show(among, found + from)}`,
  );
}

function expectSent(pair: Pair, given: Given): void {
  const { client, upstream, passage, endpoint: to } = pair;
  const quote = (text: string) => escaped(text, given.escapedEvery);
  const { parts } = passage.write(requestOf(client, REQUESTS[client](given, quote)), to);
  const sent = Buffer.concat(parts).toString();
  const { objects } = UPSTREAMS[upstream];
  const strings = stringsIn(sent);
  const places: readonly Place[] =
    client === "completions" ? [] : ["args", "result", "toolSchema", "outputSchema"];
  for (const place of places) {
    const text = given[place];
    // A long result is a string everywhere.
    const mayBeText = !objects.includes(place) || place === "result";
    const arrived = (objects.includes(place) && sent.includes(text)) || (mayBeText && strings.has(text));
    hold(arrived, place, text, sent);
  }
  const option = `"${OPTION}":${given.options}`;
  hold(sent.includes(option), "options", option, sent);
}

describe.each(PAIRS)("%s to %s", (client, upstream) => {
  const pair = pairOf(client, upstream);
  const hasCalls = client !== "completions";
  const sayings = (args: string, text: string): Said[] => [
    { text },
    ...(hasCalls ? [{ calls: [{ id: "c1", name: "f", arguments: args }] }] : []),
  ];

  test("what is asked arrives as it was written", () => {
    everyDocument((given) => expectSent(pair, given));
  });

  test("what is answered arrives as it was written, whole and streamed", () => {
    everyDocument(({ result: text, cuts, ...given }) => {
      // Events have one kind of line end.
      const args = given.args.replaceAll("\r", " ");
      for (const said of sayings(args, text)) {
        const whole = heardWhole(pair, said);
        const told = streamOf(upstream, said);
        const at = cuts.map((part) => Math.floor(part * told.length));
        expectHeard(client, said, whole, heardStreamed(pair, told, at));
      }
    });
  });

  test("a streamed answer is the same in every split", () => {
    const args = '{"a":1E2,"10":9007199254740993,"2":"\\u0041\\/🎉","a":[-0, 1.0]}';
    for (const said of sayings(args, args)) {
      const told = streamOf(upstream, said);
      const whole = heardWhole(pair, said);
      for (let at = 0; at <= told.length; at += CUT_STEP) {
        expectHeard(client, said, whole, heardStreamed(pair, told, [at]));
      }
      const everywhere = Array.from(told, (_, at) => at);
      expectHeard(client, said, whole, heardStreamed(pair, told, everywhere));
    }
  });
});

function expectHeard(client: ClientName, said: Said, whole: string, stream: string): void {
  const args = said.calls?.[0] === undefined ? "" : (said.calls[0] as { arguments: string }).arguments;
  const read = WHOLE[client](JSON.parse(whole));
  const grown = streamed(client, stream);
  const text = said.text ?? "";
  hold(read.text === text, "whole text", text, whole);
  hold(grown.text === text, "streamed text", text, grown.text);
  const isWhole =
    read.args === undefined ? args === "" || whole.includes(`"input":${args}`) : read.args === args;
  hold(isWhole, "whole call", args, whole);
  hold(grown.args === args, "streamed call", args, grown.args ?? "");
  // The events of responses repeat what was said.
  if (client === "responses") {
    const last: Json = JSON.parse(sseEvents(stream).at(-1)?.data ?? "{}");
    const repeated = WHOLE.responses(last.response);
    hold(
      repeated.text === text && repeated.args === args,
      "repeated answer",
      args + text,
      JSON.stringify(last),
    );
  }
}
