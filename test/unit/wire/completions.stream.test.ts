/** Spliced streams of completions: what a client gets, and what is metered and kept, at every cut of their bytes. */
import { describe, expect, test } from "vitest";
import type { AnswerStream } from "../../../src/wire/format.ts";
import { ID, STREAMS, streamOf } from "../../support/wire/completions.fixtures.ts";
import { type Json, MODEL, plainChunks, SVC, usage } from "../../support/wire/fixtures.ts";

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

interface Relayed {
  readonly early: string;
  readonly all: string;
  readonly stream: AnswerStream;
}

function relay(reads: readonly string[], body: object = {}): Relayed {
  const stream = streamOf(body);
  const early = reads.map((piece) => stream.push(piece)).join("") + stream.end();
  return { early, all: early + stream.close(usage(41, 42), SVC), stream };
}

function textsIn(chunks: readonly Json[]): string[] {
  const texts: string[] = [];
  for (const { choices } of chunks) {
    for (const { index, text } of choices as { index: number; text: string }[])
      texts[index] = (texts[index] ?? "") + text;
  }
  return texts;
}

describe.each(STREAMS)("$name", ({ body, text, texts, usage: [prompt, output] }) => {
  test("the client gets the upstream's events as ours, usage and `svc` last", () => {
    const { all, early, stream } = relay([latin1(text)], body);
    const chunks = plainChunks(all);
    expect(textsIn(chunks)).toEqual(texts);
    expect(new Set(chunks.map(({ id, model }) => `${id} ${model}`))).toEqual(new Set([`${ID} ${MODEL}`]));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: prompt }, svc: SVC });
    expect(chunks.slice(0, -1).map((chunk) => chunk.usage ?? null)).toEqual(chunks.slice(1).map(() => null));
    expect(all.endsWith("data: [DONE]\n\n")).toBe(true);
    // No text waits for the settlement.
    expect(textsIn(plainChunks(early))).toEqual(texts);
    expect(stream.facts).toMatchObject({ usage: { inputTokens: prompt, outputTokens: output } });
    expect(stream).toMatchObject({ complete: true, done: true, malformed: 0, error: undefined });
    const { candidates } = JSON.parse(String(stream.kept()));
    expect(candidates.map((one: Json) => one.content)).toEqual(
      texts.map((said) => [{ type: "text", text: said }]),
    );
  });

  test("cut anywhere, it is the same", () => {
    const bytes = latin1(text);
    const whole = relay([bytes], body);
    for (let at = 1; at < bytes.length; at++) {
      const cut = relay([bytes.slice(0, at), bytes.slice(at)], body);
      expect(cut.all, `cut at ${at}`).toBe(whole.all);
      expect(cut.stream.facts, `cut at ${at}`).toEqual(whole.stream.facts);
    }
    const single = relay([...bytes], body);
    expect(single.all).toBe(whole.all);
    expect(String(single.stream.kept())).toBe(String(whole.stream.kept()));
  });

  test("a client that wants no usage gets none", () => {
    const { all } = relay([latin1(text)], { ...body, stream_options: { include_usage: false } });
    expect(all).not.toContain("usage");
    expect(textsIn(plainChunks(all))).toEqual(texts);
  });
});

const chunk = (text: string, finish: string | null = null, index = 0): string =>
  `data: ${JSON.stringify({ id: "u", object: "text_completion", created: 5, model: "up", choices: [{ text, index, logprobs: null, finish_reason: finish }] })}\n\n`;

test("the finish reason waits for the settlement, its text does not", () => {
  const { early, all } = relay([chunk("a"), chunk("b", "stop")]);
  expect(textsIn(plainChunks(early))).toEqual(["ab"]);
  expect(early).not.toContain('"stop"');
  const last = plainChunks(all).at(-2);
  expect(last).toMatchObject({ choices: [{ text: "", finish_reason: "stop" }] });
  expect(plainChunks(all).at(-1)).toMatchObject({ object: "text_completion", created: 5 });
});

test("without a report the text is what counts, the prompts that it repeats left out", () => {
  const said = "words of an answer";
  const bytes = said.length;
  const prompt = "é".repeat(100);
  const facts = (body: object, ...events: string[]) => relay(events.map(latin1), body).stream.facts;
  expect(facts({ prompt }, chunk(said, "stop"))).toMatchObject({ usage: undefined, outputBytes: bytes });
  const echoed = facts({ prompt, echo: true }, chunk(prompt), chunk(said, "stop"));
  expect(echoed.outputBytes).toBeGreaterThanOrEqual(bytes - 3);
  expect(echoed.outputBytes).toBeLessThanOrEqual(bytes);
  expect(echoed.unreportedBytes).toBe(echoed.outputBytes);
  const twice = facts(
    { prompt: [prompt, "a"], n: 2, echo: true },
    ...[0, 1].map((at) => chunk(prompt + said, "stop", at)),
    ...[2, 3].map((at) => chunk(`a${said}`, "stop", at)),
  );
  expect(Math.abs(twice.outputBytes - 4 * bytes)).toBeLessThan(20);
  // Something came: the prompt is charged.
  expect(facts({ prompt, echo: true, max_tokens: 0 }, chunk("é"))).toMatchObject({ outputBytes: 1 });
  expect(facts({ prompt, echo: true })).toMatchObject({ outputBytes: 0 });
});

test("several choices: it is whole when each has its reason", () => {
  const stream = streamOf({ prompt: ["a", "b", "c"] });
  for (const [at, piece] of [chunk("z", "stop", 2), chunk("x", "stop", 0), chunk("y", null, 1)].entries()) {
    stream.push(piece);
    expect(stream.complete, `${at}`).toBe(false);
  }
  stream.push(chunk("", "length", 1));
  expect(stream.complete).toBe(true);
  stream.end();
  expect(JSON.parse(String(stream.kept())).candidates).toMatchObject([
    { content: [{ text: "x" }], stop: { reason: "stop" } },
    { content: [{ text: "y" }], stop: { reason: "length" } },
    { content: [{ text: "z" }], stop: { reason: "stop" } },
  ]);
});

test("as many choices as prompts and answers are counted", () => {
  const prompt = Array.from({ length: 300 }, (_, i) => `${i}`);
  const stream = streamOf({ prompt });
  for (let i = 0; i < 299; i++) stream.push(chunk("xx", "stop", i));
  stream.push(chunk("xx", null, 299));
  expect(stream.complete).toBe(false);
  expect(stream.facts.outputBytes).toBe(600);
});

test.each([
  [
    "an error event",
    `data: {"error":{"message":"no","type":"t","code":"c"}}\n\n`,
    { message: "no", code: "c" },
  ],
  [
    "vLLM's error event",
    `data: {"object":"error","message":"no","type":"t","code":400}\n\n`,
    { message: "no" },
  ],
])("%s ends the stream, and what was said counts", (_, event, error) => {
  const { stream, all } = relay([chunk("ab"), event, chunk("c", "stop")]);
  expect(stream.error).toMatchObject(error);
  expect(stream.complete).toBe(false);
  expect(stream.facts.outputBytes).toBe(2);
  expect(all).not.toContain('"text":"c"');
});

test("hostile events harm nothing", () => {
  const odd = [
    `{"choices":[{"index":-1,"text":"a"},{"index":1e9,"text":"b"},{"text":7},null,{"finish_reason":7}]}`,
    `{"choices":{}}`,
    `{"choices":[{"delta":{"content":[1]}}]}`,
    `{"delta":1}`,
    "nonsense",
    `[1]`,
  ];
  const { stream } = relay(odd.map((data) => `data: ${data}\n\n`));
  expect(stream.malformed).toBe(2);
  expect(stream.facts.outputBytes).toBe(2);
});

test("chunks in the shape of chat, with parts, are told as chunks of a completion", () => {
  const said = (delta: object, reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "u", created: 1, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const parts = [
    { type: "text", text: 'a "text" ' },
    { type: "thinking", thinking: [] },
  ];
  const reads = [said({ role: "assistant", content: parts }), said({ content: "b" }), said({}, "stop")];
  const { all, stream } = relay([...reads, "data: [DONE]\n\n"], { suffix: "y" });
  expect(textsIn(plainChunks(all))).toEqual(['a "text" b']);
  expect(all).not.toContain('"delta"');
  expect(stream.facts.outputBytes).toBe(12);
});

test("a client that leaves a stream pays for the answer that it got, whatever it asked the best of", () => {
  const { stream } = relay([chunk("12345678")], { best_of: 5 });
  expect(stream.facts).toMatchObject({ outputBytes: 8, unreportedBytes: 8 });
});
