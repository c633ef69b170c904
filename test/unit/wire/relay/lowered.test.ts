/** What is told in another way beside a lowered limit: of a provider's options, whose text stays else, and of what Gemini takes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { type Passable, passageTo } from "../../../../src/wire/passages.ts";
import { limitWarnings } from "../../../../src/wire/relay/limit-warnings.ts";
import { lowered, toldWithin } from "../../../../src/wire/relay/lowered.ts";
import { endpoint, provider } from "../../../support/routing/fixtures.ts";

const THINKS = { ...endpoint("m").capabilities, reasoning: true };
const LIMIT = 1000;
const MOST = 800;

interface Given {
  readonly limit?: number;
  readonly upstreamModel?: string;
  /** The call is also fitted to this limit. */
  readonly fitted?: number;
}

/** The text of the options that are sent, and the warnings. @param options JSON text */
function sent(options: string, { limit = LIMIT, upstreamModel = "m", fitted }: Given = {}) {
  const body = `{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"x"}],"svc":{"provider_options":{"p":${options},"q":${options}}}}`;
  const request = FORMATS.chat.read(Buffer.from(body));
  const at = endpoint("m", { provider: provider("p"), upstreamModel });
  const told = toldWithin(fitted ?? limit, limit);
  const { svc } = lowered(request, at, told);
  // Options for another provider are never touched.
  expect(svc.providerOptions.q).toBe(options);
  const way = { format: "chat", isSplice: false, isFitted: fitted !== undefined, dropped: [] } as const;
  const at0 = "/svc/provider_options/p";
  const warnings = limitWarnings(request, at, told, way).filter((warning) => warning.includes(at0));
  return [svc.providerOptions.p, warnings.map((warning) => warning.replace(at0, ""))];
}
const to = (pointer: string, tokens = MOST) => `lowered: ${pointer} to ${tokens}`;

describe("the text around a budget stays", () => {
  test.each<[string, string, readonly string[]]>([
    [
      '{ "é" : 1.0,"thinking_budget" : 900 , "x":1E2}',
      '{ "é" : 1.0,"thinking_budget" : 800 , "x":1E2}',
      [to("/thinking_budget")],
    ],
    [
      '{"reasoning":{"max_tokens":9e2,"effort":"ü"}}',
      '{"reasoning":{"max_tokens":800,"effort":"ü"}}',
      [to("/reasoning/max_tokens")],
    ],
    [
      '{"generation_config":{"thinking_config":{"thinking_budget":900}},"generationConfig":{"thinkingConfig":{"thinkingBudget":901}}}',
      '{"generation_config":{"thinking_config":{"thinking_budget":800}},"generationConfig":{"thinkingConfig":{"thinkingBudget":800}}}',
      [
        to("/generation_config/thinking_config/thinking_budget"),
        to("/generationConfig/thinkingConfig/thinkingBudget"),
      ],
    ],
    ['{"min_tokens":1001}', '{"min_tokens":1000}', [to("/min_tokens", LIMIT)]],
    ['{"thinking_budget":800,"min_tokens":1000}', '{"thinking_budget":800,"min_tokens":1000}', []],
    ['{"thinking_budget":-1}', '{"thinking_budget":-1}', []],
    ['{"thinking_budget":"900"}', '{"thinking_budget":"900"}', []],
    ['{"thinking_budget":1e99}', '{"thinking_budget":1e99}', []],
    ['{"thinking":900}', '{"thinking":900}', []],
    ['{"thinking":[{"budget_tokens":9000}]}', '{"thinking":[{"budget_tokens":9000}]}', []],
    ['"thinking_budget"', '"thinking_budget"', []],
    ["[900]", "[900]", []],
    ["{}", "{}", []],
  ])("%s", (given, text, warnings) => {
    expect(sent(given)).toEqual([text, warnings]);
  });
});

describe("a budget for which too little is left", () => {
  const PRO = "gemini-2.5-pro";
  const LITE = "gemini-2.5-flash-lite";
  const gemini = (more: string) => `{"generationConfig":{"thinkingConfig":{${more}},"topK":3}}`;
  test.each<[string, Given, string, readonly string[]]>([
    ['{"thinking":{"type":"enabled","budget_tokens":2000}}', {}, "{}", ["dropped: /thinking"]],
    ['{"a":1,"thinking":{"budget_tokens":2000},"b":2}', {}, '{"a":1,"b":2}', ["dropped: /thinking"]],
    [
      '{"Thinking":{"budget_tokens":2000},"thinking":{"budget_tokens":1000},"b":{"x":2}}',
      {},
      '{"b":{"x":2}}',
      ["dropped: /Thinking", "dropped: /thinking"],
    ],
    // The caller's own choice is not the gateway's fault.
    ['{"thinking":{"budget_tokens":500}}', {}, '{"thinking":{"budget_tokens":500}}', []],
    [
      '{"additionalModelRequestFields":{"reasoning_config":{"budget_tokens":2000},"top_k":3}}',
      {},
      '{"additionalModelRequestFields":{"top_k":3}}',
      ["dropped: /additionalModelRequestFields/reasoning_config"],
    ],
    [
      gemini('"thinkingBudget":2000,"includeThoughts":true'),
      { limit: 150, upstreamModel: PRO },
      gemini('"includeThoughts":true'),
      ["dropped: /generationConfig/thinkingConfig/thinkingBudget"],
    ],
    [
      gemini('"thinkingBudget":2000'),
      { limit: 160, upstreamModel: PRO },
      gemini('"thinkingBudget":128'),
      [to("/generationConfig/thinkingConfig/thinkingBudget", 128)],
    ],
    [
      gemini('"includeThoughts":true,"thinkingBudget":2000'),
      { limit: 600, upstreamModel: LITE },
      gemini('"includeThoughts":true'),
      ["dropped: /generationConfig/thinkingConfig/thinkingBudget"],
    ],
    [
      gemini('"thinkingBudget":2000'),
      { limit: 600, upstreamModel: "gemini-2.5-flash" },
      gemini('"thinkingBudget":480'),
      [to("/generationConfig/thinkingConfig/thinkingBudget", 480)],
    ],
  ])("%s %j", (options, given, text, warnings) => {
    expect(sent(options, given)).toEqual([text, warnings]);
  });
});

test("in a body that passes as bytes, only the budget goes, or the object that needs one", () => {
  const body = (more: string) =>
    `{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"x"}],${more}}`;
  const at = endpoint("m", { dialects: ["chat"], upstreamModel: "gemini-2.5-pro" });
  const splice = (more: string) => {
    const request = lowered(FORMATS.chat.read(Buffer.from(body(more))), at, toldWithin(150, 150));
    const { parts, dropped } = (passageTo(FORMATS.chat, at) as Passable).passage.write(request, at);
    return [Buffer.concat(parts).toString(), dropped];
  };
  const expected = (more: string) =>
    body(more).replace("9000", "150").replace('"m"', `"${at.upstreamModel}"`);
  const google = (more: string) => `"extra_body":{"google":{"thinking_config":{${more}},"x":1.0}},"top_k":3`;
  expect(splice(google('"thinking_budget":2000,"include_thoughts":true'))).toEqual([
    expected(google('"include_thoughts":true')),
    ["/extra_body/google/thinking_config/thinking_budget"],
  ]);
  const bedrock = (more: string) => `"additionalModelRequestFields":{${more}"top_k":3}`;
  expect(splice(bedrock('"thinking":{"budget_tokens":2000},'))).toEqual([
    expected(bedrock("")),
    ["/additionalModelRequestFields/thinking"],
  ]);
  const both = '"reasoning_config":{"budget_tokens":2000},"thinking":{"budget_tokens":2000},';
  expect(splice(bedrock(both))[0]).toBe(expected(bedrock("")));
  expect(splice('"thinking":{"budget_tokens":2000},"top_k":3')).toEqual([
    expected('"top_k":3'),
    ["/thinking"],
  ]);
});

describe("budgets that Gemini takes, by translation", () => {
  const PRO = "gemini-2.5-pro";
  const LITE = "gemini-2.5-flash-lite";
  /** The budget that is sent, and what is named as left out. @param limit that the endpoint is told; absent: as asked for */
  function told(upstreamModel: string, reasoning: object, limit?: number) {
    const at = endpoint("m", { dialects: ["gemini"], upstreamModel, capabilities: THINKS });
    const body = { model: "m", max_tokens: 9000, messages: [{ role: "user", content: "x" }], reasoning };
    const read = FORMATS.chat.read(Buffer.from(JSON.stringify(body)));
    const request = limit === undefined ? read : lowered(read, at, toldWithin(limit, limit));
    const { parts, dropped } = (passageTo(FORMATS.chat, at) as Passable).passage.write(request, at);
    const { generationConfig } = JSON.parse(Buffer.concat(parts).toString());
    return [generationConfig.thinkingConfig?.thinkingBudget, dropped];
  }

  test.each<[string, object, number | undefined, number | undefined, readonly string[]]>([
    [PRO, { max_tokens: 5000 }, undefined, 5000, []],
    [PRO, { max_tokens: 5000 }, 1000, 800, []],
    [PRO, { max_tokens: 5000 }, 160, 128, []],
    [PRO, { max_tokens: 5000 }, 150, undefined, ["/reasoning"]],
    [PRO, { max_tokens: 100 }, undefined, undefined, ["/reasoning"]],
    [PRO, { max_tokens: 0 }, undefined, 0, []],
    [PRO, { max_tokens: -1 }, 150, -1, []],
    [LITE, { max_tokens: 511 }, undefined, undefined, ["/reasoning"]],
    [LITE, { max_tokens: 512 }, undefined, 512, []],
    ["gemini-2.5-flash", { max_tokens: 1 }, undefined, 1, []],
    [PRO, { effort: "high" }, undefined, 24_576, []],
    [PRO, { effort: "high" }, 1000, 800, []],
    [PRO, { effort: "high" }, 150, 128, []],
    [LITE, { effort: "low" }, 600, 512, []],
    ["gemini-2.5-flash", { effort: "none" }, 150, 0, []],
  ])("%s %j, limit %s", (model, reasoning, limit, budget, dropped) => {
    expect(told(model, reasoning, limit)).toEqual([budget, dropped]);
  });
});

test("a limit that is fitted below the endpoint's leaves the budget that this one allows", () => {
  expect(sent('{"thinking_budget":5000}', { fitted: 900 })).toEqual([
    '{"thinking_budget":800}',
    [to("/thinking_budget")],
  ]);
});

test("names in many spellings, and long ones, are named up to a bound", () => {
  const names = Array.from({ length: 100 }, (_, index) => `thinking${"_".repeat(index)}budget`);
  const textOf = (tokens: number) => `{${names.map((name) => `"${name}":${tokens}`).join()}}`;
  const [text, warnings] = sent(textOf(900)) as [string, readonly string[]];
  expect(text).toBe(textOf(MOST));
  const named = names.slice(0, 19).map((name) => to(`/${name}`));
  expect(warnings).toEqual(named);
  const [, [long]] = sent(`{"thinking${"_".repeat(500)}budget":900}`) as [string, readonly string[]];
  expect(long).toHaveLength("lowered:  to 800".length + 129 - "/svc/provider_options/p".length);
});

test("whatever the options, their values but the budgets stay, and no budget is above its share", () => {
  const name = fc.constantFrom("thinking_budget", "thinkingBudget", "x", "__proto__", "é");
  const value = fc.oneof(fc.nat(2000), fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }), (members) => {
      const text = `{${members.map(([key, given]) => `${JSON.stringify(key)}:${JSON.stringify(given)}`).join()}}`;
      const [changed] = sent(text) as [string];
      const isBudget = (key: string) => /^thinking_?budget$/i.test(key);
      const expected = members.map(([key, given]) => {
        const isAbove = isBudget(key) && Number.isSafeInteger(given) && (given as number) > MOST;
        return `${JSON.stringify(key)}:${isAbove ? MOST : JSON.stringify(given)}`;
      });
      expect(changed).toBe(`{${expected.join()}}`);
    }),
    { numRuns: 200 },
  );
});
