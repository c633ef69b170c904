/**
 * Betas of Claude Code and others on the way to Bedrock: it takes some in the body, for some models, and refuses the call for any other
 * ("invalid beta flag": BerriAI/litellm#19877, coder/aibridge#221, anthropics/claude-code#49370). What is left out is named.
 */
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, modelOf, startField, type TargetName } from "../../support/field/field.ts";

/** As Claude Code sends them. */
const CLAUDE_CODE =
  "claude-code-20250219,interleaved-thinking-2025-05-14, context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24";
const TAKEN = ["interleaved-thinking-2025-05-14", "context-management-2025-06-27"];
const LEFT = ["claude-code-20250219", "prompt-caching-scope-2026-01-05", "effort-2025-11-24"];
const PAID = "context-1m-2025-08-07";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

const BODY = { max_tokens: 4000, messages: [{ role: "user", content: "x" }] };

async function ask(target: TargetName, betas: string, body: object = {}, stream = false) {
  field.up.script(answerOf("converse", { text: "ok" }, stream));
  const headers = { "anthropic-version": "2023-06-01", ...(betas !== "" && { "anthropic-beta": betas }) };
  return await field.gateway.call("POST", "/v1/messages", {
    body: { model: modelOf(target), stream, ...BODY, ...body },
    headers,
  });
}
const fields = () => field.up.last.json.additionalModelRequestFields;
const warningsOf = ({ text }: { readonly text: string }): readonly string[] =>
  JSON.parse(/"warnings":(\[[^\]]*\])/.exec(text)?.[1] ?? "[]");
const dropped = (betas: readonly string[]) => betas.map((beta) => `dropped: anthropic-beta: ${beta}`);

for (const stream of [false, true]) {
  const mode = stream ? "streamed" : "whole";

  test(`a Claude is asked for those that Bedrock takes for it: ${mode}`, async () => {
    const got = await ask("converse", CLAUDE_CODE, {}, stream);
    expect(got.status, got.text).toBe(200);
    expect(fields()).toEqual({ anthropic_beta: TAKEN });
    expect(field.up.last.headers["anthropic-beta"]).toBeUndefined();
    expect(warningsOf(got)).toEqual(dropped(LEFT));
  });

  test(`beside thinking, each once: ${mode}`, async () => {
    const thinking = { type: "enabled", budget_tokens: 2000 };
    const got = await ask("converse", `${TAKEN[0]},${TAKEN[0]}`, { thinking }, stream);
    expect(fields()).toEqual({ thinking, anthropic_beta: [TAKEN[0]] });
    expect(warningsOf(got)).toEqual([]);
  });

  test(`models of other makers get none: ${mode}`, async () => {
    const got = await ask("converse-nova", CLAUDE_CODE, {}, stream);
    expect(got.status, got.text).toBe(200);
    expect(fields()).toBeUndefined();
    expect(warningsOf(got)).toEqual(dropped(CLAUDE_CODE.split(",").map((beta) => beta.trim())));
  });

  test(`what has a price of its own is not sent without one: ${mode}`, async () => {
    const got = await ask("converse", `${PAID},${TAKEN[0]}`, {}, stream);
    expect(fields()).toEqual({ anthropic_beta: [TAKEN[0]] });
    expect(warningsOf(got)).toEqual([...dropped([PAID]), `no_price: ${PAID}`]);
  });
}

describe("beside a client's own options for Bedrock", () => {
  const at = "/svc/provider_options/converse/additionalModelRequestFields";
  const svcOf = (additionalModelRequestFields: object, more: object = {}) => ({
    svc: { provider_options: { converse: { additionalModelRequestFields } }, ...more },
  });
  const OTHER = "dev-full-thinking-2025-05-14";
  const thinking = { type: "enabled", budget_tokens: 2000 };

  test.each<[string, string, object, object, object, readonly string[]]>([
    ["other members", TAKEN.join(), {}, { top_k: 3 }, { anthropic_beta: TAKEN, top_k: 3 }, []],
    ["betas", TAKEN.join(), {}, { anthropic_beta: [OTHER] }, { anthropic_beta: [...TAKEN, OTHER] }, []],
    [
      "the same betas",
      TAKEN.join(),
      {},
      { anthropic_beta: [TAKEN[1], OTHER, OTHER, TAKEN[0]] },
      { anthropic_beta: [...TAKEN, OTHER] },
      [],
    ],
    ["betas alone", "", {}, { anthropic_beta: [OTHER, OTHER] }, { anthropic_beta: [OTHER] }, []],
    ["no betas", TAKEN.join(), {}, { anthropic_beta: [] }, { anthropic_beta: TAKEN }, []],
    // What the header's list would leave out is sent, since the options say so.
    [
      "one that is left out",
      LEFT.join(),
      {},
      { anthropic_beta: [LEFT[2]] },
      { anthropic_beta: [LEFT[2]] },
      dropped(LEFT.slice(0, 2)),
    ],
    [
      "thinking of the body",
      TAKEN.join(),
      { thinking },
      { top_k: 3 },
      { thinking, anthropic_beta: TAKEN, top_k: 3 },
      [],
    ],
    [
      "thinking",
      TAKEN.join(),
      { thinking },
      { thinking: { type: "enabled", budget_tokens: 1500 } },
      { thinking: { type: "enabled", budget_tokens: 1500 }, anthropic_beta: TAKEN },
      [],
    ],
    [
      "thinking by its other name",
      TAKEN.join(),
      { thinking },
      { reasoning_config: { type: "enabled", budget_tokens: 1500 } },
      { reasoning_config: { type: "enabled", budget_tokens: 1500 }, anthropic_beta: TAKEN },
      [],
    ],
    // Options without a price go as a whole, and what the header asks for stays.
    [
      "what has no price",
      TAKEN.join(),
      {},
      { anthropic_beta: [PAID], top_k: 3 },
      { anthropic_beta: TAKEN },
      [`dropped: ${at}`, `no_price: ${PAID}`],
    ],
    [
      "no list of betas",
      TAKEN.join(),
      {},
      { anthropic_beta: OTHER },
      { anthropic_beta: TAKEN },
      [`dropped: ${at}`, "no_price: anthropic_beta"],
    ],
  ])("%s", async (_, header, body, options, sent, warnings) => {
    for (const stream of [false, true]) {
      const got = await ask("converse", header, { ...body, ...svcOf(options) }, stream);
      expect(got.status, got.text).toBe(200);
      expect(fields()).toEqual(sent);
      expect(warningsOf(got)).toEqual(warnings);
    }
    const strict = { compat: { strict: true } };
    const { status, json } = await ask("converse", header, { ...body, ...svcOf(options, strict) });
    expect([status, json.error?.param]).toEqual(
      warnings.length === 0 ? [200, undefined] : [400, expect.anything()],
    );
  });
});

test("without betas the body has no place for them", async () => {
  for (const betas of ["", ","]) {
    await ask("converse", betas);
    expect(field.up.last.json).not.toHaveProperty("additionalModelRequestFields");
  }
});

test("strictly: what would be left out refuses the call, what is taken does not", async () => {
  const svc = { compat: { strict: true } };
  expect((await ask("converse", TAKEN.join(","), { svc })).status).toBe(200);
  for (const betas of [CLAUDE_CODE, PAID]) {
    const { status, json } = await ask("converse", betas, { svc });
    expect([status, json.error.code]).toEqual([400, "capability_not_supported"]);
    expect(json.error.message).toContain("anthropic-beta");
    expect(field.up.arrived).toEqual([]);
  }
});

test("the SDK's betas", async () => {
  const { gateway } = field;
  const client = new Anthropic({ apiKey: gateway.liveKey, baseURL: gateway.url });
  field.up.script(answerOf("converse", { text: "ok" }, false));
  await client.beta.messages.create({
    model: modelOf("converse"),
    max_tokens: 9,
    messages: [{ role: "user", content: "x" }],
    betas: ["token-efficient-tools-2025-02-19"],
  });
  expect(fields()).toEqual({ anthropic_beta: ["token-efficient-tools-2025-02-19"] });
});
