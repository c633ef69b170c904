/**
 * Output limits that some endpoints of a model can give and others cannot: those that can come first, the others are told what they can
 * give, each its own, and the hold is of what is told.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { addOrgs } from "../../support/money/orgs.ts";

const ASKED = 64_000;
/** Pays for 32,000 tokens, and not for 64,000. */
const CREDIT = 40_000;
const price = { input: 1, output: 1 };
const context = 200_000;

let folder: string;
let gateway: TestGateway;
let keys: Record<string, string>;
beforeAll(async () => {
  folder = await seededFolder(() => {});
  keys = await addOrgs(folder, {
    full: { creditMicroUsd: CREDIT },
    fitted: { creditMicroUsd: 20_000 },
    thinks: { creditMicroUsd: 28_000 },
    overrun_whole: { creditMicroUsd: 70_000 },
    overrun_stream: { creditMicroUsd: 70_000 },
  });
  const bodies = (chat: object) => ({ quirks: { bodies: { chat } } });
  gateway = await testGateway({
    folder,
    model: { context, max_output: ASKED },
    endpoints: [
      { provider: "short", price, entry: { max_output: 32_000 } },
      { provider: "shorter", price, entry: { max_output: 16_000 } },
      { provider: "whole", price: { input: 2, output: 2 } },
      { provider: "fails", instruction: { status: 500 }, price: { input: 2, output: 2 } },
      { provider: "renames", entry: { max_output: 32_000 }, ...bodies({ rename: { max_tokens: "tokens" } }) },
      { provider: "sets", entry: { max_output: 32_000 }, ...bodies({ set: { max_tokens: 9 } }) },
      { provider: "omits", entry: { max_output: 32_000 }, ...bodies({ omit: ["max_tokens"] }) },
      {
        provider: "newer",
        entry: { max_output: 32_000 },
        quirks: { max_tokens_field: "max_completion_tokens" },
      },
      {
        provider: "overruns",
        price: { input: 1, output: 60 },
        entry: { max_output: 1000 },
        instruction: { tokens: 3000, usage: "none" },
        ...bodies({ omit: ["max_tokens"] }),
      },
      { provider: "unbounded", entry: { context: 50_000, max_output: 50_000 } },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

const ask = (providers: readonly string[], more: object = {}, svc: object = {}, key?: string) =>
  gateway.chat(
    {
      model: "test/model",
      messages: [{ role: "user", content: "x" }],
      max_tokens: ASKED,
      svc: { route: { providers: { only: providers }, sort: "price" }, ...svc },
      ...more,
    },
    key === undefined ? {} : { key },
  );
const told = () => JSON.parse(String(gateway.simulator.calls.at(-1)?.body));

test("the endpoint that can give all comes first, whatever the sort, unless another is asked for", async () => {
  const by = async (providers: readonly string[], svc: object = {}) => {
    const { json, text } = await ask(providers, {}, svc);
    expect(json.svc, text).toBeDefined();
    return [json.svc.provider, told().max_tokens, json.svc.warnings];
  };
  expect(await by(["short", "whole"])).toEqual(["whole", ASKED, []]);
  const route = { providers: { order: ["short", "whole"] } };
  expect(await by([], { route })).toEqual(["short", 32_000, ["lowered: /max_tokens to 32000"]]);
  // Alone, it is told what it gives.
  expect(await by(["short"])).toEqual(["short", 32_000, ["lowered: /max_tokens to 32000"]]);
  // Where all must be lowered, the one that gives more comes first.
  expect(await by(["shorter", "short"])).toEqual(["short", 32_000, ["lowered: /max_tokens to 32000"]]);
  const fewer = await ask(["short", "whole"], { max_tokens: 32_000 });
  expect([fewer.json.svc.provider, fewer.json.svc.warnings]).toEqual(["short", []]);
});

test("one that gives less is a fallback, with its own limit", async () => {
  const { json } = await ask(["fails", "shorter"]);
  expect([json.svc.provider, told().max_tokens, json.svc.warnings]).toEqual([
    "shorter",
    16_000,
    ["lowered: /max_tokens to 16000"],
  ]);
});

test("strictly, only those that can give all are asked", async () => {
  const strict = { compat: { strict: true } };
  expect((await ask(["short", "whole"], {}, strict)).json.svc.provider).toBe("whole");
  const refused = await ask(["short", "shorter"], {}, strict);
  expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
    400,
    "invalid_value",
    "/max_tokens",
  ]);
  expect(refused.json.error.message).toContain("32000");
});

test("what is told is held, and a call may be fitted below it", async () => {
  const refused = await ask(["whole"], {}, {}, keys.full);
  expect(refused.json.error.code).toBe("insufficient_credits");
  for (const stream of [false, true]) {
    const { status, text } = await ask(["short"], { stream }, {}, keys.full);
    expect([status, text.includes("lowered: /max_tokens to 32000")], text).toEqual([200, true]);
  }
  expect((await ask(["short"], { n: 2 }, {}, keys.full)).status).toBe(402);
  const fitted = await ask(["short"], {}, { hold: "fit" }, keys.fitted);
  const limit = told().max_tokens;
  expect(limit).toBeLessThan(20_000);
  expect(fitted.json.svc.warnings).toEqual([`hold_fitted: ${limit}`]);
  const covered = await ask(["shorter"], {}, { hold: "fit" }, keys.fitted);
  expect(covered.json.svc.warnings).toEqual(["lowered: /max_tokens to 16000"]);
});

test.each([
  ["whole", "lowered: /max_tokens to 1000"],
  ["stream", "insufficient_credits"],
])("what is held at the endpoint that answers bounds an estimate: %s", async (form, said) => {
  // 30,000 tokens of the one cost as much as 1000 of the other, which is held 1000 at and writes 3000.
  const route = { providers: { order: ["overruns", "whole"], only: ["overruns", "whole"] } };
  const key = keys[`overrun_${form}`] as string;
  const { text } = await ask([], { max_tokens: 30_000, stream: form === "stream" }, { route }, key);
  expect(text).toContain(said);
  expect(text).not.toContain("reserve_exceeded");
  const { json } = await gateway.call("GET", "/v1/credits", { key });
  expect(json.available_micro_usd).toBeGreaterThanOrEqual(0);
  expect(json.held_micro_usd).toBe(0);
});

describe("thinking, where the limit is lowered and the call is fitted", () => {
  const budget = (tokens: number) => ({ thinking_budget: tokens });
  const optionsOf = (options: object) => ({ hold: "fit", provider_options: { short: options } });

  test.each<[string, object, object, string]>([
    ["of the body", budget(63_000), { hold: "fit" }, "/thinking_budget"],
    ["of the options", {}, optionsOf(budget(63_000)), "/svc/provider_options/short/thinking_budget"],
  ])("C14: a budget %s counts as it is told", async (_, body, svc, pointer) => {
    for (const stream of [false, true]) {
      // 28,000 tokens are covered: less than the limit, and more than the budget and an answer beside it.
      const { status, text } = await ask(["short"], { ...body, stream }, svc, keys.thinks);
      expect(status, text).toBe(200);
      const { max_tokens: limit, thinking_budget } = told();
      expect(limit).toBeGreaterThan(25_600 + 1024);
      expect(limit).toBeLessThan(28_000);
      expect(thinking_budget).toBe(25_600);
      expect(JSON.parse(/"warnings":(\[[^\]]*\])/.exec(text)?.[1] ?? "")).toEqual([
        `hold_fitted: ${limit}`,
        `lowered: ${pointer} to 25600`,
      ]);
    }
  });

  test("a fitted limit leaves a budget that the endpoint can give as it is", async () => {
    const { json } = await ask(
      ["short"],
      { max_tokens: 32_000, ...budget(26_000) },
      { hold: "fit" },
      keys.thinks,
    );
    const limit = told().max_tokens;
    expect([limit < 28_000, told().thinking_budget]).toEqual([true, 26_000]);
    expect(json.svc.warnings).toEqual([`hold_fitted: ${limit}`]);
  });

  test("less than the budget and an answer is not covered", async () => {
    const { status, json } = await ask(["short"], budget(63_000), { hold: "fit" }, keys.fitted);
    expect([status, json.error.code]).toEqual([402, "insufficient_credits"]);
    // The least that helps: 25,600 + 1,024 tokens, and the prompt.
    expect(json.error.details.required_micro_usd).toBeGreaterThan(26_624);
    expect(json.error.details.required_micro_usd).toBeLessThan(27_000);
  });

  test("a dry run names what is lowered in options, too", async () => {
    const body = {
      model: "test/model",
      messages: [{ role: "user", content: "x" }],
      generation: { max_tokens: ASKED },
      route: { providers: { only: ["short"] } },
      provider_options: { short: budget(63_000) },
    };
    const { json } = await gateway.call("POST", "/v1/svc/dry_run", { body });
    expect(json.warnings).toEqual([
      "lowered: /generation/max_tokens to 32000",
      "lowered: /provider_options/short/thinking_budget to 25600",
    ]);
  });
});

test("a provider's own ways with the member stay", async () => {
  await ask(["renames"]);
  expect([told().tokens, told().max_tokens]).toEqual([32_000, undefined]);
  await ask(["sets"]);
  expect(told().max_tokens).toBe(9);
  await ask(["omits"]);
  expect(told()).not.toHaveProperty("max_tokens");
  await ask(["newer"]);
  expect([told().max_completion_tokens, told().max_tokens]).toEqual([32_000, undefined]);
});

test("an endpoint whose longest answer is its context gives what the prompt leaves", async () => {
  const { status, text } = await ask(["unbounded"]);
  expect(status, text).toBe(200);
  expect(told().max_tokens).toBeLessThan(50_000);
  expect(told().max_tokens).toBeGreaterThan(49_900);
});

test("what is asked beyond reason is no error either, and is not kept room for", async () => {
  const body = { model: "test/model", input: "x", max_output_tokens: 2_000_000_000, store: true };
  const svc = { route: { providers: { only: ["short"] } } };
  const { status, text, json } = await gateway.call("POST", "/v1/responses", { body: { ...body, svc } });
  expect(status, text).toBe(200);
  expect(json.svc.warnings).toEqual(["lowered: /max_output_tokens to 32000"]);
});

test("a dry run says the same", async () => {
  const body = {
    model: "test/model",
    messages: [{ role: "user", content: "x" }],
    generation: { max_tokens: ASKED },
    route: { providers: { only: ["short", "whole"] }, sort: "price" },
  };
  const { status, text, json } = await gateway.call("POST", "/v1/svc/dry_run", { body });
  expect(status, text).toBe(200);
  expect(JSON.stringify(json)).toContain("its answers end at 32000 tokens");
});
