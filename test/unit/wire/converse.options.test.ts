/** Options of requests to Bedrock's Converse, written from neutral terms. */
import { describe, expect, test } from "vitest";
import type { ConverseRequestBody } from "../../../src/wire/converse/body.ts";
import { converseDialect } from "../../../src/wire/converse/dialect.ts";
import type {
  NeutralMessage,
  NeutralOptions,
  NeutralRequest,
  Part,
  Reasoning,
} from "../../../src/wire/neutral/neutral.ts";
import { carried, parsedBody } from "../../support/wire/carried.ts";
import { endpointOf, hello, message, requestOf, said } from "./gemini.fixtures.ts";

const CLAUDE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-pro-v1:0";

const written = (request: NeutralRequest, model = CLAUDE) => {
  const { body, dropped } = converseDialect.writeRequest(request, endpointOf(model));
  return { body: parsedBody(body as ConverseRequestBody), dropped };
};

/** A schema that the provider takes as it is where it holds a model to it. */
const CLOSED = { type: "object", properties: {}, additionalProperties: false };

describe("options", () => {
  const tools = [{ name: "f", description: "", parameters: carried(CLOSED), strict: true }];

  test("all that the provider knows are carried in its words, and none is added", () => {
    const options: NeutralOptions = {
      maxTokens: said(10),
      temperature: said(0),
      topP: said(1),
      topK: said(3),
      stop: said(["a"]),
      metadata: said({ team: "a/b" }),
      serviceTier: said("flex"),
      parallelTools: said(true),
      toolChoice: said("required"),
    };
    const { body, dropped } = written(requestOf([hello], options, { tools }));
    const message = { role: "user", content: [{ text: "Hello" }] };
    expect(dropped).toEqual([]);
    expect(body).toEqual({
      messages: [message],
      inferenceConfig: { maxTokens: 10, temperature: 0, stopSequences: ["a"] },
      additionalModelRequestFields: { top_k: 3 },
      requestMetadata: { team: "a/b" },
      serviceTier: { type: "flex" },
      toolConfig: {
        tools: [{ toolSpec: { name: "f", inputSchema: { json: CLOSED }, strict: true } }],
        toolChoice: { any: {} },
      },
    });
    expect(written(requestOf([hello])).body).toEqual({ messages: [message] });
  });

  test("those it does not know are named", () => {
    const options: NeutralOptions = {
      topK: said(3, "/top_k"),
      seed: said(1, "/seed"),
      frequencyPenalty: said(1, "/frequency_penalty"),
      presencePenalty: said(1, "/presence_penalty"),
      logitBias: said({ "1": 1 }, "/logit_bias"),
      logprobs: said({ top: 1 }, "/logprobs"),
      choices: said(2, "/n"),
      format: said({ type: "json" }, "/response_format"),
      reasoning: said({ effort: "high" }, "/reasoning_effort"),
      verbosity: said("low", "/verbosity"),
      user: said("u", "/user"),
      cacheKey: said("k", "/prompt_cache_key"),
      serviceTier: said("scale", "/service_tier"),
      metadata: said({ a: "emoji 🎉" }, "/metadata"),
    };
    const { body, dropped } = written(requestOf([hello], options), NOVA);
    expect(dropped.toSorted()).toEqual(
      Object.values(options)
        .map(({ at }) => at)
        .toSorted(),
    );
    expect(Object.keys(body)).toEqual(["messages"]);
  });

  test("tool choices", () => {
    const choose = (toolChoice: NeutralOptions["toolChoice"], given = [hello]) => {
      const { body, dropped } = written(requestOf(given, toolChoice ? { toolChoice } : {}, { tools }));
      return [body.toolConfig?.tools.length, body.toolConfig?.toolChoice, dropped];
    };
    expect(choose(undefined)).toEqual([1, undefined, []]);
    expect(choose(said("auto"))).toEqual([1, { auto: {} }, []]);
    expect(choose(said({ name: "f" }))).toEqual([1, { tool: { name: "f" } }, []]);
    expect(choose(said("none"))).toEqual([undefined, undefined, []]);
    const call = message("assistant", "/m", { type: "tool_call", id: "c", name: "f", arguments: "{}" });
    expect(choose(said("none", "/tool_choice"), [hello, call])).toEqual([1, undefined, ["/tool_choice"]]);
  });

  test("calls in a conversation bring their tools, which the provider wants, where the request has none", () => {
    const call = { type: "tool_call", id: "c", name: "f", arguments: "{}" } as const;
    const said = message("assistant", "/m", call, { ...call, id: "d", name: "g" }, { ...call, id: "e" });
    const { body, dropped } = written(requestOf([hello, said]));
    const inputSchema = { json: { type: "object" } };
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: "f", inputSchema } }, { toolSpec: { name: "g", inputSchema } }],
    });
    expect(dropped).toEqual([]);
    expect(written(requestOf([hello])).body).not.toHaveProperty("toolConfig");
  });

  test("a schema of the output goes as JSON text", () => {
    const schema = { ...CLOSED, properties: { a: { type: "string" } } };
    const format = said({
      type: "json_schema",
      name: "n",
      description: "d",
      schema: carried(schema),
    } as const);
    expect(written(requestOf([hello], { format })).body.outputConfig).toEqual({
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { schema: JSON.stringify(schema), name: "n", description: "d" } },
      },
    });
  });

  const LATER = "global.anthropic.claude-opus-4-8-v1:0";
  const enabled = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });

  test.each<[string, Reasoning, number | undefined, object | undefined, string | undefined]>([
    [CLAUDE, { effort: "low" }, undefined, enabled(1024), undefined],
    [CLAUDE, { effort: "high" }, 40_000, enabled(24_576), undefined],
    [CLAUDE, { effort: "high" }, 5000, enabled(4000), undefined],
    [CLAUDE, { budgetTokens: 2000 }, 5000, enabled(2000), undefined],
    [CLAUDE, { effort: "none" }, undefined, undefined, undefined],
    [LATER, { effort: "none" }, undefined, undefined, undefined],
    [LATER, { show: false }, undefined, undefined, undefined],
    ["anthropic.claude-opus-4-6-v1:0", { budgetTokens: 2000 }, 5000, enabled(2000), undefined],
    ["anthropic.claude-opus-4-6-v1:0", { effort: "max" }, 5000, { thinking: { type: "adaptive" } }, "max"],
    [LATER, { effort: "high" }, 10, { thinking: { type: "adaptive" } }, "high"],
    [LATER, { effort: "minimal" }, undefined, { thinking: { type: "adaptive" } }, "low"],
    [
      LATER,
      { isAdaptive: true, show: false },
      undefined,
      { thinking: { type: "adaptive", display: "omitted" } },
      undefined,
    ],
    ["openai.gpt-oss-120b-1:0", { effort: "medium" }, undefined, { reasoning_effort: "medium" }, undefined],
  ])("%s is told %j within %s", (model, reasoning, maxTokens, fields, effort) => {
    const options = {
      reasoning: said(reasoning),
      ...(maxTokens !== undefined && { maxTokens: said(maxTokens) }),
    };
    const { body, dropped } = written(requestOf([hello], options), model);
    expect(body.additionalModelRequestFields).toEqual(fields);
    expect(body.outputConfig?.effort).toBe(effort);
    expect(dropped).toEqual([]);
  });

  test("to show thinking that nobody asked for is told as left out", () => {
    const reasoning = said({ show: true } as const, "/reasoning");
    expect(written(requestOf([hello], { reasoning }), LATER).dropped).toEqual(["/reasoning"]);
  });

  test("what Claude refuses beside thinking is left out, and told", () => {
    const options: NeutralOptions = {
      reasoning: said({ effort: "low" }, "/reasoning"),
      temperature: said(0.5, "/temperature"),
      topP: said(0.96, "/top_p"),
      topK: said(5, "/top_k"),
    };
    const { body, dropped } = written(requestOf([hello], options));
    expect(body.inferenceConfig).toEqual({ topP: 0.96 });
    expect(body.additionalModelRequestFields).toEqual(enabled(1024));
    expect(dropped.toSorted()).toEqual(["/temperature", "/top_k"]);
    const { reasoning, ...rest } = options;
    expect(written(requestOf([hello], rest)).dropped).toEqual(["/top_p"]);
    expect(written(requestOf([hello], rest), NOVA).body.inferenceConfig).toEqual({
      temperature: 0.5,
      topP: 0.96,
    });
  });

  test("thinking is dropped where a call is forced, or the turn of calls began without", () => {
    const reasoning = said({ effort: "low" } as const, "/reasoning");
    const call: Part = { type: "tool_call", id: "c", name: "f", arguments: "{}" };
    const thought: Part = { type: "reasoning", text: "hm", seal: { by: "anthropic", data: "S" } };
    const result: Part = { type: "tool_result", id: "c", name: "f", isError: false, parts: [] };
    const loop = (...turn: Part[]) => [
      hello,
      message("assistant", "/m/1", ...turn),
      message("user", "/m/2", result),
    ];
    const droppedOf = (given: NeutralMessage[], options: NeutralOptions = {}) =>
      written(requestOf(given, { ...options, reasoning }, { tools })).dropped;
    expect(droppedOf([hello], { toolChoice: said("required") })).toEqual(["/reasoning"]);
    expect(droppedOf([hello], { toolChoice: said("auto") })).toEqual([]);
    expect(droppedOf(loop(call))).toEqual(["/reasoning"]);
    expect(droppedOf(loop(thought, call))).toEqual([]);
  });

  test("thinking that does not fit into the output is dropped", () => {
    const options = {
      reasoning: said({ effort: "low" } as const, "/reasoning_effort"),
      maxTokens: said(500),
    };
    const { body, dropped } = written(requestOf([hello], options));
    expect([body.additionalModelRequestFields, dropped]).toEqual([undefined, ["/reasoning_effort"]]);
  });
});
