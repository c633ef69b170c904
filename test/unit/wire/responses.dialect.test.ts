/** Neutral requests as an upstream of the responses dialect gets them. */
import { describe, expect, test } from "vitest";
import type {
  NeutralMessage,
  NeutralOptions,
  NeutralRequest,
  Part,
} from "../../../src/wire/neutral/neutral.ts";
import { responsesDialect } from "../../../src/wire/responses/dialect.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { carried, parsedBody } from "../../support/wire/carried.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { UPSTREAM } from "./responses.fixtures.ts";

const request = (
  messages: readonly NeutralMessage[],
  options: NeutralOptions = {},
  more: Partial<NeutralRequest> = {},
): NeutralRequest => ({ stream: false, messages, tools: [], options, dropped: [], ...more });

const says = (role: NeutralMessage["role"], ...parts: Part[]): NeutralMessage => ({
  role,
  parts,
  at: `/${role}`,
});

const HI = says("user", { type: "text", text: "Hi" });

function told(neutral: NeutralRequest, to = UPSTREAM): { body: Json; dropped: readonly string[] } {
  const { body, dropped } = responsesDialect.writeRequest(neutral, to);
  return { body: parsedBody(body) as Json, dropped };
}

describe("input", () => {
  test("system messages keep their place; nothing is stored", () => {
    const { body, dropped } = told(
      request([
        says("system", { type: "text", text: "Be kind." }),
        HI,
        says("system", { type: "text", text: "Now" }),
      ]),
    );
    const message = (role: string, text: string) => ({
      type: "message",
      role,
      content: [{ type: "input_text", text }],
    });
    expect(body).toEqual({
      model: "up-1",
      store: false,
      include: ["reasoning.encrypted_content"],
      input: [message("system", "Be kind."), message("user", "Hi"), message("system", "Now")],
    });
    expect(dropped).toEqual([]);
  });

  test("T47, T49: OpenAI's reasoning goes back before what it preceded, with its summary and its id", () => {
    const seal = (data: string) => ({ by: "openai", data }) as const;
    const { body, dropped } = told(
      request([
        says(
          "assistant",
          { type: "reasoning", text: "One", isSummary: true },
          { type: "reasoning", text: "Two", isSummary: true, seal: seal("gA+/=") },
          { type: "text", text: "Look." },
          { type: "refusal", text: "But no." },
          { type: "reasoning", text: "", isRedacted: true, seal: seal("rs_b-7:gB") },
          { type: "tool_call", id: "c", name: "f", arguments: '{"a":1}' },
        ),
      ]),
    );
    expect(body.input).toEqual([
      {
        type: "reasoning",
        id: "rs_0",
        summary: [
          { type: "summary_text", text: "One" },
          { type: "summary_text", text: "Two" },
        ],
        encrypted_content: "gA+/=",
      },
      {
        type: "message",
        role: "assistant",
        content: [
          { type: "output_text", text: "Look.", annotations: [] },
          { type: "refusal", refusal: "But no." },
        ],
      },
      { type: "reasoning", id: "rs_b-7", summary: [], encrypted_content: "gB" },
      { type: "function_call", call_id: "c", name: "f", arguments: '{"a":1}' },
    ]);
    expect(dropped).toEqual([]);
  });

  test("reasoning that led to nothing is not sent: the API would refuse it", () => {
    const seal = { by: "openai", data: "gA" } as const;
    const { body, dropped } = told(
      request([HI, says("assistant", { type: "reasoning", text: "", seal }), HI]),
    );
    expect(body.input).toMatchObject([{ role: "user" }, { role: "user" }]);
    expect(dropped).toEqual(["/assistant"]);
  });

  test("T49: reasoning of another maker, or of none, is not sent", () => {
    for (const seal of [{ seal: { by: "anthropic", data: "E" } } as const, {}]) {
      const { body, dropped } = told(
        request([
          says("assistant", { type: "reasoning", text: "Hm", ...seal }, { type: "text", text: "Ok" }),
        ]),
      );
      expect(body.input).toMatchObject([{ type: "message", role: "assistant" }]);
      expect(JSON.stringify(body)).not.toContain("Hm");
      expect(dropped).toEqual(["/assistant"]);
    }
  });

  test("T50: results with images and documents, media by data, URL and file", () => {
    const png = { kind: "data", mediaType: "image/png", data: "QUJD" } as const;
    const { body, dropped } = told(
      request([
        says(
          "user",
          { type: "tool_result", id: "c1", name: "f", isError: false, parts: [{ type: "text", text: "1" }] },
          {
            type: "tool_result",
            id: "c2",
            name: "f",
            isError: true,
            parts: [
              { type: "text", text: "see" },
              { type: "image", source: png, detail: "high", at: "/part" },
            ],
          },
          { type: "tool_result", id: "c3", name: "f", isError: false, parts: [] },
          { type: "image", source: { kind: "url", url: "https://x" }, at: "/part" },
          { type: "image", source: { kind: "file", id: "file-1" }, at: "/part" },
          { type: "document", name: "a.pdf", source: { ...png, mediaType: "application/pdf" }, at: "/part" },
          { type: "document", source: { kind: "text", text: "Plain" }, at: "/part" },
        ),
      ]),
    );
    expect(body.input).toEqual([
      { type: "function_call_output", call_id: "c1", output: "1" },
      {
        type: "function_call_output",
        call_id: "c2",
        output: [
          { type: "input_text", text: "see" },
          { type: "input_image", detail: "high", image_url: "data:image/png;base64,QUJD" },
        ],
      },
      { type: "function_call_output", call_id: "c3", output: "" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_image", detail: "auto", image_url: "https://x" },
          { type: "input_image", detail: "auto", file_id: "file-1" },
          { type: "input_file", file_data: "data:application/pdf;base64,QUJD", filename: "a.pdf" },
          { type: "input_text", text: "Plain" },
        ],
      },
    ]);
    // That a call failed has no place.
    expect(dropped).toEqual(["/user"]);
  });
});

describe("options", () => {
  const said = <T>(value: T, at: string) => ({ value, at });

  test("are carried, or named as dropped; T53: none is added", () => {
    const { body, dropped } = told(
      request(
        [HI],
        {
          maxTokens: said(9, "/m"),
          temperature: said(0, "/t"),
          topP: said(0.5, "/p"),
          topK: said(3, "/k"),
          stop: said(["x"], "/stop"),
          seed: said(1, "/seed"),
          frequencyPenalty: said(1, "/f"),
          presencePenalty: said(1, "/pp"),
          logitBias: said({ 1: 2 }, "/b"),
          logprobs: said({ top: 2 }, "/l"),
          choices: said(2, "/n"),
          toolChoice: said("required", "/c"),
          parallelTools: said(false, "/pt"),
          format: said({ type: "json_schema", schema: carried({ a: 1 }) }, "/fmt"),
          verbosity: said("low", "/v"),
          reasoning: said({ effort: "high", show: true }, "/r"),
          user: said("u", "/u"),
          cacheKey: said("k", "/ck"),
          serviceTier: said("standard_only", "/s"),
          metadata: said({ a: "b" }, "/md"),
        },
        {
          stream: true,
          tools: [{ name: "f", parameters: carried({ type: "object" }) }],
          dropped: ["/before"],
        },
      ),
    );
    const { input: _, ...rest } = body;
    expect(rest).toEqual({
      model: "up-1",
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      max_output_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      top_logprobs: 2,
      tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }],
      tool_choice: "required",
      parallel_tool_calls: false,
      text: { format: { type: "json_schema", name: "response", schema: { a: 1 } }, verbosity: "low" },
      reasoning: { effort: "high", summary: "auto" },
      user: "u",
      prompt_cache_key: "k",
      metadata: { a: "b" },
    });
    expect([...dropped].sort()).toEqual(
      ["/before", "/k", "/stop", "/seed", "/f", "/pp", "/b", "/n", "/s"].sort(),
    );
  });

  test("what steers tools is not said without tools", () => {
    const { body, dropped } = told(
      request([HI], { toolChoice: said("auto", "/c"), parallelTools: said(true, "/pt") }),
    );
    expect(body).not.toHaveProperty("tool_choice");
    expect(body).not.toHaveProperty("parallel_tool_calls");
    // It has no effect there.
    expect(dropped).toEqual([]);
  });

  test.each([
    [{ budgetTokens: 0 }, { effort: "none" }],
    [{ budgetTokens: 1024 }, { effort: "low" }],
    [{ budgetTokens: 8000 }, { effort: "medium" }],
    [{ budgetTokens: 32_000 }, { effort: "high" }],
    [{ effort: "max", budgetTokens: 1 }, { effort: "max" }],
    [{ isAdaptive: true, summary: "detailed" }, { summary: "detailed" }],
    [{ isAdaptive: true }, undefined],
  ] as const)("reasoning of %j is %j", (reasoning, written) => {
    const { body, dropped } = told(request([HI], { reasoning: said(reasoning, "/r") }));
    expect(body.reasoning).toEqual(written);
    expect(dropped).toEqual([]);
  });

  test("a model that does not reason is told nothing of it", () => {
    const plain = endpoint("e", { upstreamModel: "up-1", capabilities: { reasoning: false } });
    const { body, dropped } = told(request([HI], { reasoning: said({ effort: "low" }, "/r") }), plain);
    expect(body).not.toHaveProperty("reasoning");
    expect(body).not.toHaveProperty("include");
    expect(dropped).toEqual(["/r"]);
  });
});
