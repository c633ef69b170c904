/** What steers a chat request in neutral terms: options, tools, and everything that has no place and is named. */
import { describe, expect, test } from "vitest";
import type { NeutralOptions } from "../../../src/wire/neutral/neutral.ts";
import { withValues } from "../../support/wire/carried.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { neutral, PNG, refusedAt } from "./chat.fixtures.ts";

const droppedBy = (body: Json) => neutral(body).dropped;

describe("options", () => {
  const optionsOf = (body: Json): NeutralOptions => neutral(body).options;

  test("each with the place where it was said", () => {
    const said = {
      max_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop: "END",
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logit_bias: { "50256": -100 },
      logprobs: true,
      n: 2,
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      verbosity: "low",
      user: "u",
      prompt_cache_key: "k",
      service_tier: "flex",
      metadata: { a: "b" },
    };
    const options = optionsOf({ ...said, top_logprobs: 3 });
    expect(
      Object.values(options)
        .map(({ at }) => at)
        .sort(),
    ).toEqual(
      Object.keys(said)
        .map((key) => `/${key}`)
        .sort(),
    );
    expect(Object.fromEntries(Object.entries(options).map(([key, { value }]) => [key, value]))).toEqual({
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ["END"],
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      logitBias: { "50256": -100 },
      logprobs: { top: 3 },
      choices: 2,
      toolChoice: { name: "f" },
      parallelTools: false,
      verbosity: "low",
      user: "u",
      cacheKey: "k",
      serviceTier: "flex",
      metadata: { a: "b" },
    });
  });

  test("what says nothing is not said", () => {
    const nothing = {
      temperature: null,
      stop: [],
      n: 1,
      logprobs: false,
      logit_bias: {},
      tools: null,
      store: true,
    };
    const { options, tools, dropped } = neutral({ ...nothing, stream_options: { include_usage: true } });
    expect([options, tools, dropped]).toEqual([{}, [], []]);
  });

  test("the larger of two output bounds, by its own name", () => {
    expect(optionsOf({ max_tokens: 5, max_completion_tokens: 9 }).maxTokens).toEqual({
      value: 9,
      at: "/max_completion_tokens",
    });
    expect(optionsOf({ max_tokens: 9, max_completion_tokens: 5 }).maxTokens).toEqual({
      value: 9,
      at: "/max_tokens",
    });
  });

  test("output formats", () => {
    const format = (response_format: Json) => withValues(optionsOf({ response_format }).format?.value);
    const schema = { type: "object", properties: {} };
    expect(format({ type: "json_object" })).toEqual({ type: "json" });
    expect(format({ type: "json_schema", json_schema: { name: "n", schema, strict: true } })).toEqual({
      type: "json_schema",
      name: "n",
      schema,
      strict: true,
    });
    expect(droppedBy({ response_format: { type: "grammar" } })).toEqual(["/response_format"]);
  });

  test("reasoning: OpenAI's level, OpenRouter's object", () => {
    const reasoning = (body: Json) => optionsOf(body).reasoning?.value;
    expect(reasoning({ reasoning_effort: "xhigh" })).toEqual({ effort: "xhigh" });
    expect(reasoning({ reasoning: { max_tokens: 2000, exclude: true } })).toEqual({
      budgetTokens: 2000,
      show: false,
    });
    expect(reasoning({ reasoning: { enabled: true } })).toEqual({ effort: "medium" });
    expect(reasoning({ reasoning: { enabled: false }, reasoning_effort: "high" })).toEqual({
      effort: "none",
    });
    expect(reasoning({ reasoning: { effort: "low" }, reasoning_effort: "high" })).toEqual({ effort: "low" });
    expect(droppedBy({ reasoning_effort: "default" })).toEqual(["/reasoning_effort"]);
  });

  test("tools, functions and the choice among them", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } } };
    const { tools, dropped } = neutral({
      tools: [
        { type: "function", function: { name: "f", description: "d", parameters, strict: true } },
        { type: "web_search" },
      ],
      functions: [{ name: "g" }],
    });
    expect(withValues(tools)).toEqual([
      { name: "f", description: "d", parameters, strict: true },
      { name: "g", parameters: { type: "object", properties: {} } },
    ]);
    expect(dropped).toEqual(["/tools/1"]);
    const choice = (body: Json) => optionsOf(body).toolChoice?.value;
    expect(choice({ tool_choice: "any" })).toBe("required");
    expect(choice({ function_call: { name: "g" } })).toEqual({ name: "g" });
    expect(droppedBy({ tool_choice: { type: "hosted" } })).toEqual(["/tool_choice"]);
  });

  test("T53: whatever has no place is named", () => {
    expect(
      droppedBy({
        prediction: { type: "content", content: "x" },
        "a/b~c": 1,
        top_logprobs: 3,
        safety_identifier: "s",
        user: "u",
        messages: [
          {
            role: "user",
            name: "Ann",
            content: [
              { type: "poem" },
              { type: "text", text: "t", x: 1 },
              { type: "image_url", image_url: { url: PNG, y: 2 } },
            ],
          },
          { role: "assistant", content: "a", audio: { id: "1" }, annotations: [], refusal: null },
          {
            role: "tool",
            tool_call_id: "i",
            content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }],
          },
        ],
      }).toSorted(),
    ).toEqual(
      [
        "/prediction",
        "/a~1b~0c",
        "/top_logprobs",
        "/user",
        "/messages/0/name",
        "/messages/0/content/0",

        "/messages/0/content/1/x",
        "/messages/0/content/2/image_url/y",
        "/messages/1/audio",
        "/messages/2/content/0",
      ].toSorted(),
    );
  });

  test.each([
    ["/seed", { seed: "7" }],
    ["/logit_bias/1", { logit_bias: { "1": "x" } }],
    ["/logprobs", { logprobs: 3 }],
    ["/metadata/a", { metadata: { a: 1 } }],
    ["/reasoning", { reasoning: "high" }],
    ["/tools/0/function", { tools: [{ type: "function" }] }],
    ["/tools/0/function/name", { tools: [{ type: "function", function: {} }] }],
    ["/response_format/json_schema", { response_format: { type: "json_schema" } }],
  ])("%s is named where it is wrong", (param, body) => {
    expect(refusedAt(body)).toBe(param);
  });
});
