/**
 * Silence of an upstream that works, and of one that is dead (2389-research/tracker#577, Yeachan-Heo/gajae-code#4096): a model may think
 * for minutes behind a preamble, between two thoughts or before a call, and is waited for as before its first byte; in the middle of a
 * text only a dead one is silent. A preamble is no content: it waits for the content, and another endpoint can answer instead.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatUpstreamName, ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { answerOf } from "../../support/field/answers.ts";
import { Beats } from "../../support/field/beats.ts";
import { AT_WORK, OVERLOADED, paused, streamOf, TEXT } from "../../support/field/pauses.ts";
import {
  type Run as AnyRun,
  endpointsOf,
  HELP,
  make,
  makeAll,
  type Seen,
  scriptedOf,
} from "../../support/field/runs.ts";
import { type Arrived, type Scripted, ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const DIALECTS: readonly ChatUpstreamName[] = ["chat", "responses", "messages", "gemini", "converse"];
const FORMATS: readonly ClientName[] = ["chat", "responses", "messages", "generate"];
const KEEP_ALIVE = (client: ClientName) => (client === "messages" ? "event: ping\n" : ": keep-alive\n");
/** The sweep comes once a second: between the first beat and the last a call has been silent for longer than `stall_ms`. */
const ENOUGH = 4;

interface Run extends AnyRun {
  /** `first_byte_ms` is short, and nothing is sent to keep the connection alive. */
  readonly isImpatient?: boolean;
  readonly check: (seen: Seen) => void;
}

const silence = () => beats.more(ENOUGH);
/** Until the test is over. */
const forever = () => over.promise;
const over = Promise.withResolvers<void>();

const answered = ({ answer, attempts, client }: Seen): void => {
  expect(attempts.at(-1)).toBe("ok 200");
  expect(answer.status).toBe(200);
  expect(CLIENTS[client].streamError(answer.text)).toBeUndefined();
  expect(textOf(answer.text)).toContain(attempts.length === 1 ? TEXT : HELP);
};

/** All strings in which a format has pieces of the answer's text, joined. */
const textOf = (text: string): string =>
  [...text.matchAll(/"(?:content|text|delta)": ?"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join("");

const failedAs =
  (status: number, code: string, attempts: readonly string[], isCharged: boolean) =>
  (seen: Seen): void => {
    const { answer, client } = seen;
    expect(seen.attempts).toEqual(attempts);
    expect(answer.status).toBe(status);
    const told = status === 200 ? CLIENTS[client].streamError(answer.text) : answer.text;
    expect(told).toContain(code);
    expect(seen.charged !== undefined).toBe(isCharged);
  };

/** Each run of the table for each format. */
const forAll = (runs: readonly Omit<Run, "client">[]): Run[] =>
  runs.flatMap((run) => FORMATS.map((client) => ({ ...run, client })));

const streamed = (dialect: ChatUpstreamName, ...parts: NonNullable<Scripted["parts"]>): Scripted => ({
  headers: streamOf(dialect).headers,
  parts,
});

const WORKING = AT_WORK.map((pause) => ({
  name: `a model at work, ${pause.name}`,
  dialect: pause.dialect,
  stream: true,
  script: paused(pause, silence),
  check(seen: Seen) {
    answered(seen);
    // What came before all content was kept back.
    if (!pause.hasBegun) expect(seen.answer.text.startsWith(KEEP_ALIVE(seen.client))).toBe(true);
  },
}));

const DEAD = DIALECTS.map((dialect) => ({
  name: "T12: a text that stops",
  dialect,
  stream: true,
  script: streamed(dialect, ...streamOf(dialect).preamble, ...streamOf(dialect).first, forever),
  check: failedAs(200, "upstream_timeout", ["timeout 200 timeout"], true),
}));

const NEVER = DIALECTS.map((dialect) => ({
  name: "nothing behind a preamble for first_byte_ms",
  dialect,
  stream: true,
  isImpatient: true,
  isHelped: true,
  script: streamed(dialect, ...streamOf(dialect).preamble, forever),
  check(seen: Seen) {
    expect(seen.attempts).toEqual([expect.stringMatching(/^timeout \d+ timeout$/), "ok 200"]);
    answered(seen);
  },
}));

const OVERLOAD = DIALECTS.flatMap((dialect) => [
  {
    name: "T14: an overload behind a preamble, without another endpoint",
    dialect,
    stream: true,
    isImpatient: true,
    script: streamed(dialect, ...OVERLOADED[dialect]),
    check(seen: Seen) {
      expect(seen.attempts).toEqual(["rate_limited 200 capacity"]);
      expect(seen.answer.status).toBe(429);
      expect(CLIENTS[seen.client].errorOf(seen.answer.json)).toBeDefined();
      expect(seen.charged).toBeUndefined();
    },
  },
  {
    name: "T14: an overload behind a preamble, with another endpoint",
    dialect,
    stream: true,
    isHelped: true,
    script: streamed(dialect, ...OVERLOADED[dialect]),
    check(seen: Seen) {
      expect(seen.attempts).toEqual(["rate_limited 200 capacity", "ok 200"]);
      answered(seen);
    },
  },
]);

const CUT = DIALECTS.map((dialect) => ({
  name: "T14: a connection that is cut behind a preamble",
  dialect,
  stream: true,
  isHelped: true,
  script: { ...streamed(dialect, ...streamOf(dialect).preamble), isCut: true },
  check(seen: Seen) {
    expect(seen.attempts).toEqual([expect.stringMatching(/^stream_error \d+ network$/), "ok 200"]);
    answered(seen);
  },
}));

const WHOLE = DIALECTS.flatMap((dialect) => {
  const { body = "" } = answerOf(dialect, { text: TEXT }, false);
  return [
    {
      name: "white space before a whole answer",
      dialect,
      stream: false,
      script: { parts: ["\n", silence, "  \n", body] },
      check: ({ answer, attempts }: Seen) => {
        expect(attempts).toEqual(["ok 200"]);
        expect(answer.text).toContain(TEXT);
      },
    },
    ...["\n", "\r\n", ...(dialect === "converse" ? [] : [": PROCESSING\n\n"])].map((before) => ({
      name: `${JSON.stringify(before)} for long, and a whole answer for a stream`,
      dialect,
      stream: true,
      script: { parts: [before, silence, before, body] },
      check(seen: Seen) {
        answered(seen);
        expect(seen.answer.text.startsWith(KEEP_ALIVE(seen.client))).toBe(true);
      },
    })),
    {
      name: "T12: a whole answer that stops",
      dialect,
      stream: false,
      script: { parts: [body.slice(0, 40), forever] },
      check: failedAs(504, "upstream_timeout", ["timeout 200 timeout"], false),
    },
  ];
});

/** Its calls come whole: after a text it may be writing one. */
const CALLING: readonly Omit<Run, "client">[] = [
  {
    name: "after a text, where tools are offered",
    dialect: "gemini",
    stream: true,
    hasTools: true,
    script: streamed("gemini", ...streamOf("gemini").first, silence, ...streamOf("gemini").rest),
    check: answered,
  },
];

const RUNS: readonly Run[] = [WORKING, DEAD, NEVER, OVERLOAD, CUT, WHOLE, CALLING].flatMap(forAll);

let up: ScriptedUpstream;
let gateway: TestGateway;
let impatient: TestGateway;
let beats: Beats;
const seen = new Map<Run, Seen>();

const scriptFor = (arrived: Arrived): Scripted =>
  arrived.url.startsWith("/beats/")
    ? { headers: streamOf("chat").headers, parts: [forever] }
    : scriptedOf(RUNS, arrived);

beforeAll(async () => {
  up = await ScriptedUpstream.start();
  up.script(...Array.from({ length: 2 * RUNS.length + 1 }, () => scriptFor));
  const model = { capabilities: ["tools", "reasoning"] };
  const metronome = { model: "test/beats", provider: "beats", baseUrl: `${up.url}/beats/v1` };
  const endpoints = RUNS.map((run, at) => ({ run, of: endpointsOf(up, run, at) }));
  [gateway, impatient] = await Promise.all([
    testGateway({
      model,
      endpoints: [
        metronome,
        ...endpoints.filter(({ run }) => run.isImpatient !== true).flatMap(({ of }) => of),
      ],
      settings: { timeouts: { stall_ms: 1500, keep_alive_ms: 1 } },
    }),
    testGateway({
      model,
      endpoints: endpoints.filter(({ run }) => run.isImpatient === true).flatMap(({ of }) => of),
      settings: { timeouts: { stall_ms: 10_000, first_byte_ms: 10_000, keep_alive_ms: 0 } },
    }),
  ]);
  const body = JSON.stringify({
    model: "test/beats",
    stream: true,
    messages: [{ role: "user", content: "Hi" }],
  });
  beats = await Beats.start(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body,
  });
  await makeAll(RUNS.length, 40, async (at) => {
    const run = RUNS[at] as Run;
    seen.set(run, await make(run.isImpatient === true ? impatient : gateway, run, at));
  });
  over.resolve();
});
afterAll(async () => {
  over.resolve();
  beats?.stop();
  await Promise.all([gateway?.stop(), impatient?.stop()]);
  await up.close();
});

describe.each([...new Set(RUNS.map(({ name }) => name))])("%s", (name) => {
  const runs = RUNS.filter((run) => run.name === name);
  test.each(runs.map((run) => [`${run.client} to ${run.dialect}`, run] as const))("%s", (_, run) => {
    run.check(seen.get(run) as Seen);
  });
});
