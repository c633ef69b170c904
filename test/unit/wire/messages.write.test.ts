/** Messages requests as written for an upstream from neutral terms. */
import type { MessageCreateParams, Tool } from "@anthropic-ai/sdk/resources/messages/messages";
import { describe, expect, expectTypeOf, test } from "vitest";
import { claudeVersion } from "../../../src/wire/claude.ts";
import type { blockOf } from "../../../src/wire/messages/write-messages.ts";
import type { toolOf } from "../../../src/wire/messages/write-options.ts";
import { writeMessagesRequest } from "../../../src/wire/messages/write-request.ts";
import type { NeutralMessage, NeutralOptions, NeutralRequest } from "../../../src/wire/neutral/neutral.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { carried, parsedBody, type Said } from "../../support/wire/carried.ts";
import { refusal } from "./messages.fixtures.ts";

const says = (text: string, role: NeutralMessage["role"] = "user", at = "/messages/0"): NeutralMessage => ({
  role,
  parts: [{ type: "text", text }],
  at,
});
const neutral = (options: NeutralOptions, given: Partial<NeutralRequest> = {}): NeutralRequest => ({
  stream: false,
  messages: [says("Hi")],
  tools: [],
  dropped: [],
  ...given,
  options,
});
const said = <T>(value: T, at = "/x") => ({ value, at });
const TOOL = { name: "f", parameters: carried({ properties: {} }) };
const OLD = endpoint("claude-sonnet-4-5-20250929", { maxOutput: 64_000 });
const NEW = endpoint("claude-opus-4-7", { maxOutput: 64_000 });

describe("writing for an endpoint", () => {
  const write = (options: NeutralOptions, given: Partial<NeutralRequest> = {}, to = OLD) => {
    const { body, dropped } = writeMessagesRequest(neutral(options, given), to);
    return { body: parsedBody(body as unknown as Record<string, unknown>), dropped };
  };

  test("system messages are hoisted, neighbours merged, results first; a lost place is told", () => {
    const messages: NeutralMessage[] = [
      says("Be", "system", "/messages/0"),
      says("a", "user", "/messages/1"),
      says("kind", "system", "/messages/2"),
      says("b", "user", "/messages/3"),
      {
        role: "user",
        parts: [{ type: "tool_result", id: "t", name: "f", parts: [], isError: false }],
        at: "/messages/4",
      },
      says("", "assistant", "/messages/5"),
    ];
    const { body, dropped } = write({}, { messages });
    expect(body).toEqual({
      model: "claude-sonnet-4-5-20250929",
      max_tokens: 64_000,
      system: [
        { type: "text", text: "Be" },
        { type: "text", text: "kind" },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t" },
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
      ],
    });
    expect(dropped).toEqual(["/messages/2"]);
  });

  test("what cannot be told at all is refused", () => {
    expect(refusal(() => write({}, { messages: [says("Be", "system")] })).param).toBe("/messages/0");
  });

  test("reasoning of other makers stays here; media that no block can hold are refused", () => {
    const messages: NeutralMessage[] = [
      {
        role: "user",
        parts: [{ type: "text", text: "a" }],
        at: "/messages/0",
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "x", seal: { by: "openai", data: "o" } },
          { type: "reasoning", text: "y" },
          { type: "refusal", text: "No" },
        ],
        at: "/messages/1",
      },
    ];
    const { body, dropped } = write({}, { messages });
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "a" }] },
      { role: "assistant", content: [{ type: "text", text: "No" }] },
    ]);
    expect(dropped).toEqual([]);
    const at = "/messages/0/content/0";
    for (const mediaType of ["audio/wav", "image/heic"]) {
      const type = mediaType === "audio/wav" ? ("audio" as const) : ("image" as const);
      const part = { type, source: { kind: "data" as const, mediaType, data: "AA==" }, at };
      const given: NeutralMessage[] = [{ role: "user", parts: [part], at: "/messages/0" }];
      expect(refusal(() => write({}, { messages: given }))).toMatchObject({
        kind: "capability_not_supported",
        param: at,
      });
    }
  });

  test.each<[string, NeutralOptions, object, string[]]>([
    ["temperature beyond 1", { temperature: said(1.5) }, {}, ["/x"]],
    ["temperature", { temperature: said(0.5) }, { temperature: 0.5 }, []],
    ["both samplers", { temperature: said(0.5), topP: said(0.9, "/p") }, { temperature: 0.5 }, ["/p"]],
    ["a usual top_p", { temperature: said(0.5), topP: said(1, "/p") }, { temperature: 0.5 }, []],
    ["top_p and top_k", { topP: said(0.9), topK: said(5) }, { top_p: 0.9, top_k: 5 }, []],
    ["any JSON", { format: said({ type: "json" }) }, {}, ["/x"]],
    ["text", { format: said({ type: "text" }) }, {}, []],
    ["seed, penalties, n", { seed: said(1, "/s"), choices: said(2, "/n") }, {}, ["/s", "/n"]],
    ["the default tier", { serviceTier: said("default") }, { service_tier: "standard_only" }, []],
    ["another tier", { serviceTier: said("flex") }, {}, ["/x"]],
    ["a choice without tools", { toolChoice: said("required") }, {}, ["/x"]],
    ["no choice without tools", { toolChoice: said("auto"), parallelTools: said(false) }, {}, []],
    ["metadata", { metadata: said({ a: "b" }), user: said("u") }, { metadata: { user_id: "u" } }, ["/x"]],
  ])("T53: %s", (_, options, members, pointers) => {
    const { body, dropped } = write(options);
    const { model: __, max_tokens: ___, messages: ____, ...rest } = body;
    expect(rest).toEqual(members);
    expect(dropped).toEqual(pointers);
  });

  test("a schema's description goes into it", () => {
    const format = said({
      type: "json_schema" as const,
      name: "n",
      description: "d",
      schema: carried({ type: "object" }),
    });
    const { body } = write({ format });
    expect(body.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: { type: "object", additionalProperties: false, description: "d" },
      },
    });
  });

  test.each([
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    ["required", false, { type: "any", disable_parallel_tool_use: true }],
    ["none", false, { type: "none" }],
    [{ name: "f" }, true, { type: "tool", name: "f" }],
    [undefined, true, undefined],
  ] as const)("tool choice %j, parallel %j", (choice, parallel, expected) => {
    const options = {
      parallelTools: said(parallel),
      ...(choice !== undefined && { toolChoice: said(choice) }),
    };
    const { body, dropped } = write(options, { tools: [TOOL] });
    expect(body.tool_choice).toEqual(expected);
    expect(body.tools).toEqual([{ name: "f", input_schema: { type: "object", properties: {} } }]);
    expect(dropped).toEqual([]);
  });

  test.each<[string, NeutralOptions["reasoning"], number, typeof OLD, unknown, unknown, string[]]>([
    [
      "effort",
      said({ effort: "medium" }),
      64_000,
      OLD,
      { type: "enabled", budget_tokens: 8192 },
      undefined,
      [],
    ],
    ["bounded", said({ effort: "high" }), 4000, OLD, { type: "enabled", budget_tokens: 3200 }, undefined, []],
    ["no room", said({ effort: "high" }), 1000, OLD, undefined, undefined, ["/x"]],
    [
      "budget",
      said({ budgetTokens: 2000 }),
      4000,
      OLD,
      { type: "enabled", budget_tokens: 2000 },
      undefined,
      [],
    ],
    ["too large", said({ budgetTokens: 4000 }), 4000, OLD, undefined, undefined, ["/x"]],
    ["none", said({ effort: "none" }), 4000, OLD, undefined, undefined, []],
    ["only shown", said({ show: true }), 4000, OLD, undefined, undefined, ["/x"]],
    ["only hidden", said({ show: false }), 4000, OLD, undefined, undefined, []],
    [
      "adaptive, old",
      said({ isAdaptive: true }),
      64_000,
      OLD,
      { type: "enabled", budget_tokens: 8192 },
      undefined,
      [],
    ],
    ["effort, new", said({ effort: "high" }), 4000, NEW, { type: "adaptive" }, { effort: "high" }, []],
    ["budget, new", said({ budgetTokens: 2000 }), 4000, NEW, { type: "adaptive" }, undefined, ["/x"]],
    [
      "hidden",
      said({ effort: "low", show: false }),
      4000,
      NEW,
      { type: "adaptive", display: "omitted" },
      { effort: "low" },
      [],
    ],
  ])("reasoning: %s", (_, reasoning, maxTokens, to, thinking, config, pointers) => {
    const { body, dropped } = write({ ...(reasoning && { reasoning }), maxTokens: said(maxTokens) }, {}, to);
    expect([body.thinking, body.output_config, dropped]).toEqual([thinking, config, pointers]);
  });

  test("beside thinking no sampling is sent", () => {
    const { body, dropped } = write({
      reasoning: said({ effort: "low" }, "/r"),
      temperature: said(0.5, "/t"),
      topP: said(0.99, "/p"),
      topK: said(1, "/k"),
    });
    expect(body).toMatchObject({ thinking: { type: "enabled" }, top_p: 0.99 });
    expect("temperature" in body || "top_k" in body).toBe(false);
    expect(dropped).toEqual(["/t", "/k"]);
  });

  test("the newest models take no sampling", () => {
    const options = { temperature: said(0.5, "/t"), topP: said(1, "/p"), topK: said(1, "/k") };
    const { body, dropped } = write(options, {}, NEW);
    expect(Object.keys(body)).toEqual(["model", "max_tokens", "messages"]);
    expect(dropped).toEqual(["/t", "/k"]);
    expect(write({ temperature: said(1) }, {}, NEW).dropped).toEqual([]);
  });

  test("no thinking where a tool is forced, or where the turn of the tools came without", () => {
    const reasoning = said({ effort: "low" as const }, "/r");
    const forced = write({ reasoning, toolChoice: said("required") }, { tools: [TOOL] });
    expect([forced.body.thinking, forced.dropped]).toEqual([undefined, ["/r"]]);
    const turn = (...parts: NeutralMessage["parts"]): NeutralMessage[] => [
      says("a"),
      {
        role: "assistant",
        parts: [...parts, { type: "tool_call", id: "t", name: "f", arguments: "{}" }],
        at: "/1",
      },
      {
        role: "user",
        parts: [{ type: "tool_result", id: "t", name: "f", parts: [], isError: false }],
        at: "/2",
      },
    ];
    expect(write({ reasoning }, { messages: turn() }).dropped).toEqual(["/r"]);
    expect(write({ reasoning }, { messages: turn() }, NEW).body.thinking).toEqual({ type: "adaptive" });
    const plain = endpoint("claude-opus-4-7", { capabilities: { reasoning: false } });
    expect(write({ reasoning }, {}, plain).dropped).toEqual(["/r"]);
    const thought = { type: "reasoning" as const, text: "x", seal: { by: "anthropic" as const, data: "s" } };
    expect(write({ reasoning }, { messages: turn(thought) }).body.thinking).toMatchObject({
      type: "enabled",
    });
  });

  test.each([
    ["claude-opus-4-7", 407],
    ["claude-opus-4-20250514", 400],
    ["claude-3-5-haiku-20241022", 305],
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", 405],
    ["claude-sonnet-5", 500],
    ["claude-sonnet-4-6@20260101", 406],
    ["claude-new-preview", 9999],
    ["anthropic.claude-v2:1", 200],
    ["MiniMax-M2", 0],
  ])("the version of %s", (model, version) => {
    expect(claudeVersion(model)).toBe(version);
  });

  test("emitted bodies are the SDK's", () => {
    type Block = NonNullable<ReturnType<typeof blockOf>>;
    type Content = Exclude<MessageCreateParams["messages"][number]["content"], string>[number];
    // The media type of an image is the client's word.
    expectTypeOf<Said<Exclude<Block, { type: "image" | "document" | "tool_result" }>>>().toExtend<Content>();
    expectTypeOf<Block["type"]>().toExtend<Content["type"]>();
    expectTypeOf<Said<ReturnType<typeof toolOf>>>().toExtend<Tool>();
    // Sampling is no part of the newest version's types; upstreams are asked for the one before.
    type Body = ReturnType<typeof writeMessagesRequest>["body"];
    type Elsewhere = "messages" | "temperature" | "top_p" | "top_k";
    expectTypeOf<Said<Omit<Body, Elsewhere>>>().toExtend<Omit<MessageCreateParams, "messages">>();
  });
});
