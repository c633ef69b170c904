/** Completions requests: what is read of them, how they are spliced, and what of them no chat can do. */
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { completionsFormat } from "../../../src/wire/completions/format.ts";
import { completionsSplice } from "../../../src/wire/completions/splice.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { canAnswer, passageTo } from "../../../src/wire/passages.ts";
import { endpoint, provider } from "../../support/routing/fixtures.ts";
import { ID, IDENTITY, read } from "../../support/wire/completions.fixtures.ts";
import { MODEL, SVC, usage } from "../../support/wire/fixtures.ts";

const UPSTREAM = endpoint("e", { dialects: ["completions"], upstreamModel: "up" });

/** The body as it goes out, its text, and what is dropped. */
function sent(body: object, to = UPSTREAM, billed: "platform" | "org" = "platform") {
  const passable = passageTo(completionsFormat, to);
  const { parts, dropped = [] } = passable?.passage.write(read(body), to, billed) ?? { parts: [] };
  const text = Buffer.concat(parts).toString();
  return { text, body: JSON.parse(text), dropped };
}

function refusal(act: () => unknown): WeirError {
  try {
    act();
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("what is read", () => {
  test.each<[string, object, object]>([
    ["one text", { prompt: "12345678" }, { choices: 1, promptTokens: 3, maxTokens: undefined }],
    ["a list of one", { prompt: ["12345678"] }, { choices: 1, promptTokens: 3 }],
    ["several texts", { prompt: ["12345678", "b", "c"] }, { choices: 3, promptTokens: 7, longestTokens: 2 }],
    ["token ids", { prompt: Array(5000).fill(100_257) }, { choices: 1, promptTokens: 5000 }],
    [
      "several of these",
      { prompt: [[1, 2], [3, 4, 5], [6]] },
      { choices: 3, promptTokens: 6, longestTokens: 3 },
    ],
    ["answers to each", { prompt: ["a", "b"], n: 3 }, { choices: 6 }],
    ["the best of many", { best_of: 20 }, { choices: 20 }],
    ["the best of many, several prompts", { prompt: [[1], [2], [3]], n: 2, best_of: 5 }, { choices: 15 }],
    ["a suffix", { prompt: "1234", suffix: "12345678" }, { promptTokens: 4 }],
    [
      "a suffix, read with each prompt",
      { prompt: [[1], [2]], suffix: "12345678" },
      { promptTokens: 8, longestTokens: 4 },
    ],
    ["no output", { echo: true, max_tokens: 0 }, { maxTokens: 1 }],
    [
      "null everywhere",
      { suffix: null, best_of: null, echo: null, n: null, max_tokens: null },
      { choices: 1 },
    ],
  ])("%s", (_, body, facts) => {
    expect(read(body).facts).toMatchObject(facts);
  });

  test("a long text counts in full, though it is not built", () => {
    const { facts, hasOpaque } = read({ prompt: ["x".repeat(40_000), "y"] });
    expect(facts.promptTokens).toBeGreaterThan(10_000);
    expect(facts.longestTokens).toBeGreaterThan(9_999);
    expect(hasOpaque).toBe(false);
    // No tokenizer counts ids again.
    expect(read({ prompt: [1, 2] }).hasOpaque).toBe(true);
  });

  test.each<[string, object, string]>([
    ["no prompt", { prompt: null }, "/prompt"],
    ["an object", { prompt: {} }, "/prompt"],
    ["an empty list", { prompt: [] }, "/prompt"],
    ["an empty list of ids", { prompt: [[]] }, "/prompt"],
    ["a mixed list", { prompt: ["a", 1] }, "/prompt"],
    ["ids that are none", { prompt: [1.5] }, "/prompt"],
    ["too many prompts", { prompt: Array(2049).fill("a") }, "/prompt"],
    ["a suffix of another kind", { suffix: 1 }, "/suffix"],
    ["best of none", { best_of: 0 }, "/best_of"],
    ["less than nothing", { max_tokens: -1 }, "/max_tokens"],
  ])("refused: %s", (_, body, param) => {
    expect(refusal(() => read(body))).toMatchObject({ kind: "invalid_value", param });
  });
});

describe("spliced", () => {
  test("bytes pass but for the model and our extension", () => {
    const text =
      '{ "model" : "v/m","prompt":[[1, 2],[3]],"suffix":"\\u00e9","echo":true,"best_of":2,"logprobs":5,"temperature":1.0,"svc":{},"x_own":[1e400] }';
    const request = completionsFormat.read(Buffer.from(text));
    const { parts, dropped } = completionsSplice.write(request as never, UPSTREAM);
    expect(Buffer.concat(parts).toString()).toBe(
      '{ "model" : "up","prompt":[[1, 2],[3]],"suffix":"\\u00e9","echo":true,"best_of":2,"logprobs":5,"temperature":1.0,"x_own":[1e400] }',
    );
    expect(dropped).toEqual([]);
  });

  test("a stream is asked for its usage, where the provider takes that", () => {
    expect(sent({ stream: true }).body.stream_options).toEqual({ include_usage: true });
    const more = { stream: true, stream_options: { include_usage: false, continuous_usage_stats: true } };
    expect(sent(more).body.stream_options).toEqual({ include_usage: true, continuous_usage_stats: true });
    const quirks = { ...provider("p").quirks, streamUsage: false };
    const to = endpoint("e", { dialects: ["completions"], provider: { ...provider("p"), quirks } });
    expect(sent({ stream: true, stream_options: {} }, to).body.stream_options).toBeUndefined();
    expect(sent({}).body.stream_options).toBeUndefined();
  });

  test.each<[string, object, string[]]>([
    ["another name of the output limit", { n_predict: -1 }, ["/n_predict"]],
    ["another name of n", { n_cmpl: 50 }, ["/n_cmpl"]],
    ["a tier without a price", { service_tier: "priority" }, ["/service_tier"]],
    ["a search", { plugins: [{ id: "web" }] }, ["/plugins"]],
    ["another host of the model", { provider: { only: ["x"] } }, ["/provider/only"]],
    ["tools", { tools: [{ type: "web_search" }] }, ["/tools/0"]],
  ])("what costs more is not sent on the platform's credential: %s", (_, body, dropped) => {
    expect(sent(body).dropped).toEqual(dropped);
    expect(sent(body, UPSTREAM, "org").dropped).toEqual([]);
  });

  test("an output limit of the gateway's is told in `max_tokens`", () => {
    const limited = (body: object) => {
      const { parts } = completionsSplice.write({ ...read(body), outputLimit: 7 }, UPSTREAM);
      return JSON.parse(Buffer.concat(parts).toString()).max_tokens;
    };
    expect([limited({}), limited({ max_tokens: 9 }), limited({ max_tokens: 5 })]).toEqual([7, 7, 5]);
  });

  const REPLY = `{"id":"cmpl-up","object":"text_completion", "created":1,"model":"up","choices":[{"text":"é","index":0,"logprobs":{"tokens":["é"],"token_logprobs":[-1.0e-3],"text_offset":[0]},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":20,"total_tokens":25},"x":1.0}`;

  test("an answer's bytes pass but its id and model, and `svc` is added", () => {
    const whole = completionsSplice.whole(Buffer.from(REPLY), read({ best_of: 20 }), IDENTITY);
    expect(whole.facts).toMatchObject({ usage: usage(5, 20), stopReason: "length", toolCalls: 0 });
    const out = whole.write(usage(5, 20), SVC).toString();
    expect(out.startsWith(REPLY.replace("cmpl-up", ID).replace('"up"', `"${MODEL}"`).slice(0, -1))).toBe(
      true,
    );
    expect(JSON.parse(out)).toEqual({ ...JSON.parse(REPLY), id: ID, model: MODEL, svc: SVC });
  });

  test("usage that is missing is estimated from the text, without the prompts that it repeats", () => {
    const { usage: _, ...rest } = JSON.parse(REPLY);
    const reply = (text: string) =>
      Buffer.from(JSON.stringify({ ...rest, choices: [{ ...rest.choices[0], text }] }));
    const facts = (body: object, text: string) =>
      completionsSplice.whole(reply(text), read(body), IDENTITY).facts;
    expect(facts({}, "12345678")).toMatchObject({ usage: undefined, outputBytes: 8, unreportedBytes: 8 });
    const prompt = "y".repeat(900);
    const echoed = facts({ prompt, echo: true }, `${prompt}12345678`);
    expect(Math.abs(echoed.outputBytes - 8)).toBeLessThan(4);
    expect(facts({ prompt, echo: false }, `${prompt}12345678`).outputBytes).toBe(908);
    const written = completionsSplice.whole(reply("a"), read({}), IDENTITY).write(usage(3, 1), SVC);
    expect(JSON.parse(written.toString()).usage).toEqual({
      prompt_tokens: 3,
      completion_tokens: 1,
      total_tokens: 4,
    });
  });

  /** Facts of an answer whose choices have these texts, without a report. @param prompt JSON */
  const unreported = (prompt: string, members: string, ...texts: readonly string[]) => {
    const bytes = Buffer.from(`{"model":"v/m","prompt":${prompt},${members}}`);
    const choices = texts.map((text, index) => ({ text, index, finish_reason: "stop" }));
    const reply = Buffer.from(JSON.stringify({ id: "u", object: "text_completion", choices }));
    const request = completionsFormat.read(bytes) as never;
    return completionsSplice.whole(reply, request, IDENTITY).facts;
  };

  test.each<[string, string, string, readonly string[]]>([
    ["escaped as Python writes it", '"\\u6c34\\u6c34\\u6c34"', '"echo":true', ["水水水"]],
    ["escaped beyond need", '"\\u0061\\/"', '"echo":true', ["a/"]],
    ["long and escaped", `"${"\\u6c34".repeat(3000)}"`, '"echo":true', ["水".repeat(3000)]],
    ["in a list, spaced", ' [ "a" ,   "b\\n" ] ', '"echo":true', ["a", "b\n"]],
    ["twice", '"水"', '"echo":true,"n":2', ["水", "水"]],
  ])("a prompt that is repeated is counted as it comes: %s", (_, prompt, members, echoes) => {
    const texts = echoes.map((echo) => `${echo}12345678`);
    const bytes = 8 * echoes.length;
    expect(unreported(prompt, members, ...texts)).toMatchObject({
      outputBytes: bytes,
      unreportedBytes: bytes,
    });
  });

  test("a prompt that is no JSON cannot be counted", () => {
    const prompt = `"${"x".repeat(5000)}\\q"`;
    expect(refusal(() => unreported(prompt, '"echo":true', "a"))).toMatchObject({ kind: "invalid_json" });
  });

  test.each([
    ['"best_of":5', 5],
    ['"best_of":6,"n":2', 3],
    ['"best_of":2,"n":2', 1],
    ['"best_of":5,"echo":true', 5],
  ])("without a report all that was made is estimated from what is given: %s", (members, times) => {
    const echo = members.includes("echo") ? "p" : "";
    const facts = unreported('"p"', members, `${echo}1234`, `${echo}5678`.slice(echo === "" ? 0 : 1));
    expect(facts).toMatchObject({ outputBytes: 8 * times, unreportedBytes: 8 * times });
  });

  test.each([
    [
      [
        { type: "text", text: "x = " },
        { type: "text", text: "1" },
      ],
      "x = 1",
    ],
    [[{ type: "thinking", thinking: [] }, "x", { type: "text" }], ""],
    [null, ""],
  ])("parts of an answer in the shape of chat are its text: %j", (content, text) => {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    const whole = completionsSplice.whole(Buffer.from(JSON.stringify({ choices })), read({}), IDENTITY);
    const out = JSON.parse(whole.write(usage(1, 1), SVC).toString());
    expect(out.choices).toEqual([{ text, index: 0, logprobs: null, finish_reason: "stop" }]);
    expect(whole.facts.outputBytes).toBe(text.length);
  });

  test("an answer in the shape of chat is told as a completion", () => {
    const reply = {
      id: "u",
      object: "chat.completion",
      created: 1,
      model: "codestral-latest",
      choices: [{ index: 0, message: { role: "assistant", content: "x = 1" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 },
    };
    const whole = completionsSplice.whole(
      Buffer.from(JSON.stringify(reply)),
      read({ suffix: "y" }),
      IDENTITY,
    );
    expect(JSON.parse(whole.write(usage(8, 4), SVC).toString())).toMatchObject({
      id: ID,
      object: "text_completion",
      choices: [{ text: "x = 1", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: reply.usage,
    });
  });

  test.each([
    ['{"error":{"message":"no","type":"t","code":"c"}}', { code: "c", type: "t", message: "no" }],
    ['{"object":"error","message":"no","type":"t","code":"c"}', { message: "no" }],
  ])("an error with status 200: %s", (body, error) => {
    expect(completionsSplice.whole(Buffer.from(body), read({}), IDENTITY).error).toMatchObject(error);
  });

  test.each(["", "[]", "{}", '{"choices":{}}', '{"message":"x"}', "nonsense"])("no answer: %j", (body) => {
    const act = () => completionsSplice.whole(Buffer.from(body), read({}), IDENTITY);
    expect(refusal(act).kind).toBe("upstream_invalid_response");
  });
});

const OTHERS: readonly Dialect[] = ["chat", "responses", "messages", "gemini", "converse"];

describe.each(OTHERS)("going out in %s", (dialect) => {
  const to = endpoint("e", { dialects: [dialect] });

  test.each<[string, object, string]>([
    ["a suffix", { suffix: "}" }, "/suffix"],
    ["several prompts", { prompt: ["a", "b"] }, "/prompt"],
    ["token ids", { prompt: [1, 2] }, "/prompt"],
    ["lists of token ids", { prompt: [[1], [2]] }, "/prompt"],
    ["no output", { max_tokens: 0, echo: true }, "/max_tokens"],
  ])("%s is refused", (_, body, param) => {
    expect(refusal(() => sent(body, to))).toMatchObject({ kind: "capability_not_supported", param });
  });

  test("what asks for nothing is no reason for either", () => {
    const { dropped } = sent({ suffix: "", echo: false, best_of: 1, prompt: ["x"] }, to);
    expect(dropped).toEqual([]);
    expect(sent({ suffix: null, best_of: null, echo: null }, to).dropped).toEqual([]);
  });

  test("what only changes how the answer is made is dropped and named", () => {
    expect(sent({ echo: true, best_of: 3 }, to).dropped).toEqual(
      expect.arrayContaining(["/echo", "/best_of"]),
    );
  });

  test.each<[string, unknown]>([
    ["temperature", "1"],
    ["top_p", []],
    ["stop", [1]],
    ["seed", 1.5],
    ["frequency_penalty", "x"],
    ["presence_penalty", {}],
    ["logit_bias", { "1": "x" }],
    ["logprobs", 21],
    ["user", 7],
  ])("%s of another kind is refused here, and left to the upstream in a splice", (name, value) => {
    const error = refusal(() => sent({ [name]: value }, to));
    expect(error.kind).toBe("invalid_value");
    expect(error.param?.startsWith(`/${name}`)).toBe(true);
    expect(sent({ [name]: value }).body[name]).toEqual(value);
  });
});

test("an endpoint that speaks completions only serves no other format; beside chat each has its own", () => {
  const both = endpoint("e", { dialects: ["completions", "chat"] });
  for (const format of Object.values(FORMATS).filter(({ task }) => task === "generate")) {
    const isOwn = format.name === "completions";
    expect([format.name, canAnswer(format, UPSTREAM)]).toEqual([format.name, isOwn]);
    expect(passageTo(format, UPSTREAM)?.dialect).toBe(isOwn ? "completions" : undefined);
    expect([canAnswer(format, both), passageTo(format, both)?.dialect]).toEqual([
      true,
      isOwn ? "completions" : "chat",
    ]);
  }
});
