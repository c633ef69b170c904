/**
 * What providers hold to the output limit follows a limit that is lowered, wherever it stands: in a member of the client's format, or in
 * `provider_options` in the words of the dialect. A fifth of the limit is left for the answer.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ClientName } from "../../support/conformance/ends.ts";
import { answerOf } from "../../support/field/answers.ts";
import { startField, TARGETS, type TargetName } from "../../support/field/field.ts";
import {
  ASKED,
  ask,
  BODIES,
  CLIENT_NAMES,
  fieldOf,
  MODES,
  MOST,
  OPTIONS,
  ofLimit,
  optionsAt,
  SHORT,
  startLimits,
  THINKING,
  thinking,
  told,
  warningsOf,
} from "./output-limit.fixtures.ts";

startLimits();

describe("a budget in a member of the format", () => {
  const BUDGETS: readonly (readonly [string, number, number])[] = [
    // As Claude Code asks for it.
    ["one token below what is asked for", ASKED - 1, THINKING],
    ["just below what is asked for", 63_000, THINKING],
    ["above the limit", 40_000, THINKING],
    ["the limit", MOST, THINKING],
    ["one token below the limit", MOST - 1, THINKING],
    ["just above its share", THINKING + 1, THINKING],
    ["its share", THINKING, THINKING],
    ["less", 10_000, 10_000],
  ];
  const ENDS: readonly (readonly [TargetName, (json: Json) => Json])[] = [
    ["messages", (json) => json.thinking],
    ["converse", (json) => json.additionalModelRequestFields.thinking],
  ];
  for (const [target, read] of ENDS) {
    test.each(BUDGETS)(`%s, to ${target}`, async (_, budget, sent) => {
      for (const stream of MODES) {
        const got = await ask("messages", target, thinking(budget), { stream });
        expect(got.status, got.text).toBe(200);
        expect(read(told())).toEqual({ type: "enabled", budget_tokens: sent });
        const lowered = sent === budget ? [] : [`lowered: /thinking/budget_tokens to ${sent}`];
        expect(warningsOf(got)).toEqual([ofLimit("messages"), ...lowered]);
      }
    });
  }

  test.each<[ClientName, TargetName, Json, string, (json: Json) => unknown]>([
    [
      "chat",
      "gemini",
      { reasoning: { max_tokens: 31_000 } },
      "/reasoning/max_tokens",
      (json) => json.generationConfig.thinkingConfig.thinkingBudget,
    ],
    [
      "messages",
      "gemini",
      thinking(31_000),
      "/thinking/budget_tokens",
      (json) => json.generationConfig.thinkingConfig.thinkingBudget,
    ],
    [
      "generate",
      "converse",
      { generation: { max_tokens: ASKED, reasoning: { budget_tokens: 31_000 } } },
      "/generation/reasoning/budget_tokens",
      (json) => json.additionalModelRequestFields.thinking.budget_tokens,
    ],
    [
      "generate",
      "messages",
      { generation: { max_tokens: ASKED, reasoning: { budget_tokens: 31_000 } } },
      "/generation/reasoning/budget_tokens",
      (json) => json.thinking.budget_tokens,
    ],
  ])("of %s, to %s", async (client, target, members, pointer, read) => {
    for (const stream of MODES) {
      const got = await ask(client, target, members, { stream });
      expect(got.status, got.text).toBe(200);
      expect(read(told())).toBe(THINKING);
      expect(warningsOf(got)).toEqual([ofLimit(client), `lowered: ${pointer} to ${THINKING}`]);
    }
  });

  test.each<[string, Json, Json]>([
    ["OpenRouter's", { reasoning: { max_tokens: 50_000 } }, { reasoning: { max_tokens: THINKING } }],
    ["DashScope's", { thinking_budget: 60_000 }, { thinking_budget: THINKING }],
    ["vLLM's", { thinking_token_budget: 31_999 }, { thinking_token_budget: THINKING }],
    ["llama.cpp's", { thinking_budget_tokens: 31_999 }, { thinking_budget_tokens: THINKING }],
    ["Anthropic's", thinking(31_999), thinking(THINKING)],
    [
      "Google's",
      { extra_body: { google: { thinking_config: { thinking_budget: 31_999, include_thoughts: true } } } },
      { extra_body: { google: { thinking_config: { thinking_budget: THINKING, include_thoughts: true } } } },
    ],
    ["a least answer", { min_tokens: 40_000 }, { min_tokens: MOST }],
  ])("in the words of servers that speak chat: %s", async (_, members, sent) => {
    const got = await ask("chat", "chat", members);
    expect(told()).toMatchObject({ max_tokens: MOST, ...sent });
    expect(warningsOf(got)).toHaveLength(2);
    // The same in options for the provider, whatever the client speaks.
    for (const client of ["chat", "messages", "responses"] as const) {
      const options = await ask(client, "chat", {}, { options: members });
      expect(told(), options.text).toMatchObject({ max_tokens: MOST, ...sent });
      expect(warningsOf(options)).toHaveLength(2);
    }
  });

  test("the bytes around are the client's", async () => {
    const { up, send } = fieldOf(MOST);
    const text = `{"max_tokens" : ${ASKED} ,"messages":[{"role":"user","content":"é 1.0"}], "thinking": { "budget_tokens" :50000, "type":"enabled" } , "x":1E2}`;
    up.script(answerOf("messages", { text: "ok" }, false));
    expect((await send("messages", "messages", text)).status).toBe(200);
    const expected = text
      .replace(String(ASKED), String(MOST))
      .replace("50000", String(THINKING))
      .replace("{", '{"model":"claude-sonnet-4-5",');
    expect(up.last.raw).toBe(expected);
  });

  test("an effort that becomes a budget leaves as much", async () => {
    const read: readonly (readonly [TargetName, (json: Json) => unknown])[] = [
      ["messages", (json) => json.thinking.budget_tokens],
      ["gemini", (json) => json.generationConfig.thinkingConfig.thinkingBudget],
    ];
    const field = await startField({ model: { context: 200_000, max_output: 5000 } });
    try {
      for (const [target, budgetOf] of read) {
        field.up.script(answerOf(TARGETS[target].dialect, { text: "ok" }, false));
        await field.send("chat", target, { ...BODIES.chat(ASKED), reasoning_effort: "high" });
        expect(budgetOf(field.up.last.json)).toBe(4000);
      }
    } finally {
      await field.stop();
    }
  });
});

describe("a budget in provider_options", () => {
  for (const [target, pointer, optionsOf] of OPTIONS) {
    for (const client of CLIENT_NAMES) {
      test.each([63_000, MOST - 1, 30_000])(`%i, ${client} to ${target}: ${pointer}`, async (budget) => {
        for (const stream of MODES) {
          const got = await ask(client, target, {}, { stream, options: optionsOf(budget) });
          expect(got.status, got.text).toBe(200);
          expect(told()).toMatchObject(optionsOf(THINKING));
          expect(warningsOf(got)).toEqual([
            ofLimit(client),
            `lowered: ${optionsAt(client, target)}${pointer} to ${THINKING}`,
          ]);
        }
      });
    }

    test(`what leaves enough stays: ${target}${pointer}`, async () => {
      for (const [tokens, budget] of [
        [ASKED, THINKING],
        [MOST, MOST - 1],
      ] as const) {
        const got = await ask("chat", target, {}, { tokens, options: optionsOf(budget) });
        expect(told()).toMatchObject(optionsOf(budget));
        expect(got.text).not.toContain("budget");
      }
    });
  }

  test("in the other spelling that Google reads", async () => {
    const options = (thinking_budget: number) => ({
      generation_config: { thinking_config: { thinking_budget } },
    });
    const got = await ask("chat", "gemini", {}, { options: options(63_000) });
    // The provider would take one of the two objects, and the limit is in the other.
    expect(told()).not.toHaveProperty("generation_config");
    expect(told().generationConfig).toEqual({
      maxOutputTokens: MOST,
      thinking_config: { thinking_budget: THINKING },
    });
    expect(warningsOf(got)).toEqual([
      ofLimit("chat"),
      `lowered: /svc/provider_options/gemini/generation_config/thinking_config/thinking_budget to ${THINKING}`,
    ]);
  });

  test("it takes the place of the body's, which is not named", async () => {
    const options = thinking(60_000);
    for (const [client, members] of [
      ["messages", thinking(50_000)],
      ["chat", { reasoning: { max_tokens: 50_000 } }],
    ] as const) {
      const got = await ask(client, "messages", members, { options });
      expect(told().thinking).toEqual(thinking(THINKING).thinking);
      expect(warningsOf(got)).toEqual([
        ofLimit(client),
        `lowered: /svc/provider_options/messages/thinking/budget_tokens to ${THINKING}`,
      ]);
    }
  });

  test("beside a budget of the body's that it leaves alone", async () => {
    const got = await ask("messages", "messages", thinking(50_000), { options: { top_k: 3 } });
    expect(told()).toMatchObject({ ...thinking(THINKING), top_k: 3 });
    expect(warningsOf(got)).toEqual([ofLimit("messages"), `lowered: /thinking/budget_tokens to ${THINKING}`]);
  });

  test("those for another provider are not looked at", async () => {
    const svc = { provider_options: { chat: thinking(60_000) } };
    expect(warningsOf(await ask("messages", "messages", {}, { svc }))).toEqual([ofLimit("messages")]);
  });

  test("what is no budget, and text beyond ASCII, is passed on as it was written", async () => {
    const options = { thinking: { budget_tokens: 60_000, é: "ü" }, thinking_budget: "60000", x: [1.5] };
    const sent = { ...options, thinking: { budget_tokens: THINKING, é: "ü" } };
    await ask("chat", "chat", {}, { options });
    expect(told()).toMatchObject(sent);
    expect(fieldOf(MOST).up.last.raw).toContain('{"budget_tokens":25600,"é":"ü"}');
  });
});

describe("a limit with no room for thinking and an answer: thinking is left out", () => {
  const dropped = (pointer: string) => `dropped: ${pointer}`;

  test.each<[ClientName, TargetName, Json, string]>([
    ["messages", "messages", thinking(60_000), "/thinking"],
    ["messages", "messages", thinking(1100), "/thinking"],
    ["messages", "converse", thinking(1100), "/thinking"],
    ["chat", "messages", { reasoning: { max_tokens: 1100 } }, "/reasoning"],
    ["chat", "chat", thinking(60_000), "/thinking"],
  ])("of %s, to %s: %j", async (client, target, members, pointer) => {
    for (const stream of MODES) {
      const got = await ask(client, target, members, { stream, limit: SHORT });
      expect(got.status, got.text).toBe(200);
      expect(JSON.stringify(told(SHORT))).not.toMatch(/thinking|reasoning/);
      expect(warningsOf(got)).toEqual([ofLimit(client, SHORT), dropped(pointer)]);
    }
  });

  test.each<[TargetName, Json, string, Json]>([
    ["messages", { ...thinking(60_000), top_k: 3 }, "/thinking", { top_k: 3 }],
    ["messages", { top_k: 3, ...thinking(1199) }, "/thinking", { top_k: 3 }],
    [
      "converse",
      { additionalModelRequestFields: { ...thinking(60_000), top_k: 3 } },
      "/additionalModelRequestFields/thinking",
      { additionalModelRequestFields: { top_k: 3 } },
    ],
    [
      "converse",
      { additionalModelRequestFields: { reasoning_config: { budget_tokens: 60_000 } } },
      "/additionalModelRequestFields/reasoning_config",
      {},
    ],
  ])("in options for %s: %j", async (target, options, pointer, sent) => {
    for (const client of CLIENT_NAMES) {
      const got = await ask(client, target, {}, { options, limit: SHORT });
      expect(got.status, got.text).toBe(200);
      expect(told(SHORT)).toMatchObject(sent);
      expect(JSON.stringify(told(SHORT))).not.toMatch(/thinking|reasoning/);
      expect(warningsOf(got)).toEqual([
        ofLimit(client, SHORT),
        dropped(`${optionsAt(client, target)}${pointer}`),
      ]);
    }
  });

  test("an option without a budget stays, and the body's that it replaces goes with it", async () => {
    const options = { thinking: { type: "disabled" } };
    const got = await ask("messages", "messages", thinking(60_000), { options, limit: SHORT });
    expect(told(SHORT)).toMatchObject(options);
    expect(warningsOf(got)).toEqual([ofLimit("messages", SHORT)]);
  });

  test("a budget that the caller itself made too small is the provider's to refuse", async () => {
    await ask("messages", "messages", thinking(500));
    expect(told()).toMatchObject(thinking(500));
  });
});
