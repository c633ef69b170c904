/**
 * `hold: fit`: where credit and budgets do not cover the longest answer, the upstream is told a limit that they cover, in its own words,
 * and the hold is still the worst case.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { idle } from "../../support/money/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { recordOf } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";
import { at, DIALECTS, endpointOf, NOVEL, OUTPUT, only, ROUTES, routeBy } from "./hold.fixtures.ts";

/** Micro-USD a token. */
const DEAR = 60;
const MIN_FIT_TOKENS = 1024;
/** Pays for some 2,600 tokens at `OUTPUT`, and not for 64,000. */
const CREDIT = 40_000;

const ORGS = [
  ...DIALECTS.flatMap((dialect) => [`${dialect}_whole`, `${dialect}_stream`]),
  "plain",
  "newer",
  "both",
  "unbounded",
  "choices",
  "thinks",
  "thinks_too_much",
  "short",
  "large",
  "falls_back",
  "hedges",
  "quirk",
  "copied",
  "settings",
  "budget",
  "budgets",
  "poor",
  "own",
] as const;

let folder: string;
let gateway: TestGateway;
let keys: Record<string, string>;

beforeAll(async () => {
  folder = await seededFolder(() => {});
  keys = await addOrgs(folder, Object.fromEntries(ORGS.map((name) => [name, { creditMicroUsd: CREDIT }])));
  gateway = await testGateway({
    folder,
    endpoints: [
      ...DIALECTS.map((dialect) => at(dialect, { dialects: [dialect] })),
      at("newer", { quirks: { max_tokens_field: "max_completion_tokens" } }),
      at("fails", { instruction: { status: 500 } }),
      at("hangs", { instruction: { fault: "hang" } }),
      at("dear", { price: { input: 1, output: DEAR } }),
      at("unlimited", { quirks: { bodies: { chat: { unsupported: ["max_tokens"] } } } }),
      at("own", { isReal: true, credentialEnv: "HOLD_FIT_TEST_NEVER_SET" }),
      at("roomy", {
        dialects: ["messages"],
        price: { input: 0.0001, output: OUTPUT },
        entry: { context: 1_000_000, max_output: 100_000 },
      }),
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});
afterEach(() => idle(gateway));

const BODY = {
  model: "test/model",
  messages: NOVEL,
  max_tokens: 64_000,
};

const ask = (
  org: string,
  provider: string | readonly string[],
  more: object = {},
  svc: object = { hold: "fit" },
) =>
  gateway.chat(
    { ...BODY, svc: { ...only(...[provider].flat()), ...svc }, ...more },
    { key: keys[org] as string },
  );

/** The body that the upstream got last. */
const told = () => JSON.parse(String(gateway.simulator.calls.at(-1)?.body));

const limitOf = ({ text }: Answer): number => Number(/hold_fitted: (\d+)/.exec(text)?.[1]);

/** A limit that the credit covers, with not much left: the prompt and roundings. */
function expectFits(limit: number, price = OUTPUT, credit = CREDIT): void {
  expect(limit * price).toBeLessThanOrEqual(credit);
  expect(limit * price).toBeGreaterThan(credit - 200 - price);
  expect(limit).toBeGreaterThanOrEqual(MIN_FIT_TOKENS);
}

async function balanceOf(org: string): Promise<number> {
  const { json } = await gateway.call("GET", "/v1/credits", { key: keys[org] as string });
  return json.available_micro_usd;
}

test("C14: a call with money left is refused in full, and answered where it is fitted; its record says so", async () => {
  const full = await ask("plain", "chat", {}, {});
  expect([full.status, full.json.error.code]).toEqual([402, "insufficient_credits"]);
  const answer = await ask("plain", "chat");
  expect(answer.status, answer.text).toBe(200);
  const limit = limitOf(answer);
  expectFits(limit);
  expect(told()).toMatchObject({ max_tokens: limit });
  expect(answer.json.svc.warnings).toEqual([`hold_fitted: ${limit}`]);
  const record = () =>
    gateway.call("GET", `/v1/generation/${answer.json.svc.request_id}`, { key: keys.plain as string });
  const { json } = await until("there is a record", record, ({ status }) => status === 200);
  expect(json.warnings).toEqual([`hold_fitted: ${limit}`]);
  expect(await balanceOf("plain")).toBe(CREDIT - answer.json.svc.cost.total_micro_usd);
});

const inside = (value: unknown, path: string): unknown =>
  path.split(".").reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);

describe.each(DIALECTS)("C14: the limit is told in the words of %s", (dialect) => {
  test.each([false, true])("streamed: %s", async (stream) => {
    const { path, body, limit: place } = ROUTES[dialect];
    const svc = { ...only(dialect), hold: "fit" };
    const options = path.endsWith("generate") ? svc : { svc };
    const answer = await gateway.call("POST", path, {
      body: { model: "test/model", stream, ...body, ...options },
      key: keys[`${dialect}_${stream ? "stream" : "whole"}`] as string,
    });
    expect(answer.status, answer.text).toBe(200);
    const limit = limitOf(answer);
    expectFits(limit);
    expect(inside(told(), place)).toBe(limit);
    // A translated response repeats what the upstream was told.
    if (dialect === "gemini") expect(answer.text).toContain(`"max_output_tokens":${limit}`);
  });
});

describe("C14: the member of a chat body", () => {
  test("is the one that the provider takes, where the client set none", async () => {
    const { max_tokens: _, ...body } = BODY;
    const svc = { ...only("newer"), hold: "fit" };
    const answer = await gateway.chat({ ...body, max_tokens: null, svc }, { key: keys.newer as string });
    const limit = limitOf(answer);
    expectFits(limit);
    expect(told().max_completion_tokens).toBe(limit);
  });

  test("is each that is set and larger", async () => {
    const answer = await ask("both", "chat", { max_completion_tokens: 9, max_tokens: 64_000 });
    expect(told()).toMatchObject({ max_completion_tokens: 9, max_tokens: limitOf(answer) });
  });

  test("is added to a call without one, whole or streamed, only where the usual hold does not fit", async () => {
    const { max_tokens: _, ...body } = BODY;
    const svc = { ...only("chat"), hold: "fit" };
    const options = { key: keys.unbounded as string };
    const whole = await gateway.chat({ ...body, svc }, options);
    expect(told().max_tokens).toBe(limitOf(whole));
    const streamed = await gateway.chat({ ...body, stream: true, svc }, options);
    // A stream holds 4,096 tokens at first.
    expect(told().max_tokens).toBe(limitOf(streamed));
    // The first org has credit for that.
    const covered = await gateway.chat({ ...body, stream: true, svc });
    expect([covered.status, told().max_tokens]).toEqual([200, undefined]);
    expect(covered.text).not.toContain("hold_fitted");
  });

  test("is told of a large body too, which is written in a thread", async () => {
    // Its provider reads it for nothing.
    const messages = [{ role: "user", content: "word ".repeat(60_000) }];
    const answer = await ask("large", "roomy", { messages });
    expect(answer.status, answer.text).toBe(200);
    expectFits(limitOf(answer));
    expect(told().max_tokens).toBe(limitOf(answer));
  });
});

test("C14: several choices share what there is", async () => {
  const limit = limitOf(await ask("choices", "chat", { n: 2 }));
  expectFits(limit, OUTPUT * 2);
  expect(told()).toMatchObject({ n: 2, max_tokens: limit });
});

describe("C14: the least that is left", () => {
  test("is 1,024 tokens above a budget of thinking", async () => {
    const thinking = { type: "enabled", budget_tokens: 1500 };
    const body = { ...BODY, model: "test/model", thinking };
    const svc = { ...only("messages"), hold: "fit" };
    const answer = await gateway.call("POST", "/v1/messages", {
      body: { ...body, svc },
      key: keys.thinks as string,
    });
    expect(limitOf(answer), answer.text).toBeGreaterThanOrEqual(1500 + MIN_FIT_TOKENS);
    expect(told()).toMatchObject({ thinking });
    const more = { ...body, thinking: { ...thinking, budget_tokens: 2000 }, svc };
    const refused = await gateway.call("POST", "/v1/messages", {
      body: more,
      key: keys.thinks_too_much as string,
    });
    expect([refused.status, refused.json.error.type]).toEqual([402, "billing_error"]);
    expect(refused.json.error.message).toContain("The shortest answer of this call");
  });

  test("is what the client asks for, where that is less: a short answer is not made shorter", async () => {
    const before = gateway.simulator.totalCalls;
    // 1,000 tokens are not covered at that price, and 500 would be.
    const answer = await ask("short", "dear", { max_tokens: 1000 });
    expect([answer.status, answer.json.error.code]).toEqual([402, "insufficient_credits"]);
    expect(answer.json.error.details).toMatchObject({ available_micro_usd: CREDIT });
    expect(gateway.simulator.totalCalls).toBe(before);
  });
});

describe("C14: another endpoint", () => {
  test("that is dearer has a limit of its own, and is not asked where that is too low", async () => {
    const answer = await ask("falls_back", ["fails", "dear", "chat"]);
    const limit = limitOf(answer);
    expect(answer.json.svc.provider).toBe("chat");
    expectFits(limit);
    const record = await recordOf(
      { ...gateway, call: (method, path) => gateway.call(method, path, { key: keys.falls_back as string }) },
      answer.json.svc.request_id,
    );
    expect(record.attempt_rows.map(({ provider }: { provider: string }) => provider)).toEqual([
      "fails",
      "chat",
    ]);
  });

  test("that cannot be told a limit is not asked", async () => {
    const alone = await ask("quirk", "unlimited");
    expect([alone.status, alone.json.error.code]).toEqual([402, "insufficient_credits"]);
    const answer = await ask("quirk", ["unlimited", "chat"]);
    expect([answer.status, answer.json.svc.provider]).toEqual([200, "chat"]);
  });

  test("that is asked beside a silent one is within the same hold", async () => {
    const key = keys.hedges as string;
    const order = ["hangs", "chat"];
    await routeBy(gateway, key, "hedges", { order, only: order, hedge_after_ms: 50 });
    const answer = await gateway.chat({ ...BODY, stream: true, svc: { hold: "fit" } }, { key });
    expectFits(limitOf(answer));
    expect(gateway.simulator.calls.slice(-2).map(({ body }) => JSON.parse(String(body)).max_tokens)).toEqual([
      limitOf(answer),
      limitOf(answer),
    ]);
    expect(await balanceOf("hedges")).toBeGreaterThan(0);
  });
});

test("C14: a fitted call has no copy at a policy's shadow: their limits would differ", async () => {
  const key = keys.copied as string;
  const endpoint = await endpointOf(gateway, key, "newer");
  const shadow = { endpoint, percent: 100, bill: "platform" };
  await routeBy(gateway, key, "copies", { order: ["chat", "newer"], shadow });
  const before = gateway.simulator.totalCalls;
  expect(limitOf(await gateway.chat({ ...BODY, svc: { hold: "fit" } }, { key }))).toBeGreaterThan(0);
  // The next one is not fitted, and has a copy.
  expect((await gateway.chat({ ...BODY, max_tokens: 10, svc: { hold: "fit" } }, { key })).status).toBe(200);
  await until(
    "the copy was sent",
    () => gateway.simulator.totalCalls - before,
    (calls) => calls === 3,
  );
});

test("C14: a budget is fitted to as credit is", async () => {
  const key = keys.budget as string;
  const daily = 30_000;
  const made = await gateway.call("POST", "/v1/keys", {
    body: { name: "fits", budget: { daily_micro: daily, hard: true }, hold: "fit" },
    key,
  });
  expect(made.json.hold).toBe("fit");
  const { secret } = made.json;
  const answer = await gateway.chat({ ...BODY, svc: only("chat") }, { key: secret });
  expectFits(limitOf(answer), OUTPUT, daily);
  // The credit covers the shortest two answers, and the budget does not.
  const refused = await gateway.chat({ ...BODY, n: 2, svc: only("chat") }, { key: secret });
  expect([refused.status, refused.json.error.code]).toEqual([402, "budget_exceeded"]);
  const { message, details } = refused.json.error;
  expect(message).toContain("The shortest answer of this call may cost up to $");
  expect(message).not.toContain("max_tokens");
  // Two answers, and the prompt.
  expect(details.required_micro_usd).toBeGreaterThanOrEqual(2 * MIN_FIT_TOKENS * OUTPUT);
  expect(details.required_micro_usd).toBeGreaterThan(daily - details.spent_micro - details.held_micro);
  const full = await gateway.chat({ ...BODY, svc: { ...only("chat"), hold: "full" } }, { key: secret });
  expect(full.json.error.message).toContain('lower max_tokens, or send it with svc.hold "fit"');
  expect(full.json.error.details.required_micro_usd).toBeGreaterThan(details.required_micro_usd);
});

test("C14: a fitted call is refused by the budget that does not cover its shortest answer, which alone is told of", async () => {
  const key = keys.budgets as string;
  const made = await gateway.call("POST", "/v1/keys", {
    body: { name: "fits", budget: { daily_micro: 30_000, hard: true }, hold: "fit" },
    key,
  });
  const project = made.json.project_id;
  const changed = await gateway.call("PATCH", `/v1/projects/${project}`, {
    body: { budget: { monthly_micro: 100, hard: true } },
    key,
  });
  expect(changed.status, changed.text).toBe(200);
  const refused = await gateway.chat({ ...BODY, svc: only("chat") }, { key: made.json.secret });
  expect([refused.status, refused.json.error.details?.budget]).toEqual([402, "project_monthly"]);
  const { json } = await gateway.call("GET", "/v1/events?type=budget.exceeded", { key });
  expect(json.data.map(({ data }: { data: { budget: string } }) => data.budget)).toEqual(["project_monthly"]);
});

test("C14: of an org's own key the fee is held, and fitted", async () => {
  const key = keys.own as string;
  const body = { provider: "own", credential: "sk-own-0123456789abcdef" };
  const added = await gateway.call("POST", "/v1/provider-keys", { body, key });
  expect(added.status, added.text).toBe(201);
  // A twentieth of 15 micro-USD a token: 100,000 tokens cost more than the credit.
  const answer = await gateway.chat(
    { ...BODY, max_tokens: 100_000, svc: { ...only("own"), hold: "fit" } },
    { key },
  );
  expect(answer.status, answer.text).toBe(200);
  expectFits(limitOf(answer), OUTPUT / 20);
});

describe("C14: who says how a call holds", () => {
  test("the request, else the key, else its project, else the org; in full where nobody does", async () => {
    const key = keys.settings as string;
    const call = async (method: string, path: string, body?: object) => {
      const { status, json, text } = await gateway.call(method, path, { key, body });
      expect(status, text).toBeLessThan(300);
      return json;
    };
    const statusOf = async (svc: object = {}) => (await ask("settings", "chat", {}, svc)).status;
    const [{ id: org }] = (await call("GET", "/v1/orgs")).data;
    const [{ id: project }] = (await call("GET", "/v1/projects")).data;
    const [{ id: own }] = (await call("GET", "/v1/keys")).data;
    expect(await statusOf()).toBe(402);
    expect((await call("PATCH", `/v1/orgs/${org}`, { settings: { hold: "fit" } })).settings.hold).toBe("fit");
    expect(await statusOf()).toBe(200);
    expect((await call("PATCH", `/v1/projects/${project}`, { hold: "full" })).hold).toBe("full");
    expect(await statusOf()).toBe(402);
    expect((await call("PATCH", `/v1/keys/${own}`, { hold: "fit" })).hold).toBe("fit");
    expect(await statusOf()).toBe(200);
    expect(await statusOf({ hold: "full" })).toBe(402);
    expect((await call("PATCH", `/v1/keys/${own}`, { hold: null })).hold).toBeUndefined();
    expect(await statusOf()).toBe(402);
    expect((await call("GET", `/v1/keys/${own}`)).hold).toBeUndefined();
    expect((await call("PATCH", `/v1/projects/${project}`, { hold: null })).hold).toBeUndefined();
    expect(await statusOf()).toBe(200);
    expect(
      (await call("PATCH", `/v1/orgs/${org}`, { settings: { hold: null } })).settings.hold,
    ).toBeUndefined();
    expect(await statusOf()).toBe(402);
    const created = await call("POST", "/v1/projects", { slug: "fits", name: "Fits", hold: "fit" });
    expect((await call("GET", `/v1/projects/${created.id}`)).hold).toBe("fit");
  });

  test("another word is refused where it stands", async () => {
    const answer = await ask("poor", "chat", {}, { hold: "half" });
    expect([answer.status, answer.json.error.param]).toEqual([400, "/svc/hold"]);
  });

  test("a call that embeds has no answer to limit", async () => {
    const body = { model: "weir/sim-embed", input: ["Hello"], svc: { hold: "fit" } };
    const answer = await gateway.call("POST", "/v1/embeddings", { body, key: keys.poor as string });
    expect(answer.status, answer.text).toBe(200);
  });
});
