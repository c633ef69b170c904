/**
 * Fifty streams of 64,000 tokens at $15 a million on a dollar: held in full, fitted, and fitted and waiting beside calls of all kinds.
 * The balance is never below zero.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { auditedLedger, chargesOf, idle, sum } from "../../support/money/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { at, endpointOf, OUTPUT, only, routeBy } from "./hold.fixtures.ts";

/** Micro-USD. */
const DOLLAR = 1_000_000;
const AT_ONCE = 50;
const LONG_MS = 120_000;
const ORGS = ["full", "fitted", "mixed", "spent", "hedged", "copied"] as const;

let folder: string;
let gateway: TestGateway;
let keys: Record<(typeof ORGS)[number], string>;

beforeAll(async () => {
  folder = await seededFolder(() => {});
  const orgs = Object.fromEntries(ORGS.map((name) => [name, { creditMicroUsd: DOLLAR }]));
  keys = await addOrgs(folder, orgs as Record<(typeof ORGS)[number], { creditMicroUsd: number }>);
  gateway = await testGateway({
    folder,
    endpoints: [
      at("good"),
      at("fails", { instruction: { status: 500 } }),
      at("hangs", { instruction: { fault: "hang" } }),
      at("copy"),
      at("translated", { dialects: ["messages"] }),
      at("own", { isReal: true, credentialEnv: "HOLD_CROWD_TEST_NEVER_SET" }),
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

const long = (svc: object, more: object = {}) => ({
  model: "test/model",
  stream: true,
  max_tokens: 64_000,
  messages: [{ role: "user", content: "Go on." }],
  simulator: { tokens: 16, first_ms: 5 },
  svc: { ...only("good"), ...svc },
  ...more,
});

type Org = (typeof ORGS)[number];

async function balanceOf(org: Org): Promise<number> {
  const { json } = await gateway.call("GET", "/v1/credits", { key: keys[org] });
  expect(json.available_micro_usd).toBeGreaterThanOrEqual(0);
  return json.available_micro_usd;
}

const booksOf = (org: Org) => ({
  call: (method: string, path: string, more: object = {}) =>
    gateway.call(method, path, { key: keys[org], ...more }),
});

/** Looks at the balance again and again meanwhile. */
async function atOnce(org: Org, bodies: readonly Record<string, unknown>[]): Promise<Answer[]> {
  let isOver = false;
  const all = Promise.all(bodies.map((body) => gateway.chat(body, { key: keys[org] }))).finally(() => {
    isOver = true;
  });
  while (!isOver) await balanceOf(org);
  const answers = await all;
  await idle(gateway);
  const charged = sum(chargesOf(await auditedLedger(booksOf(org))).values());
  expect(await balanceOf(org)).toBe(DOLLAR - charged);
  return answers;
}

const PATIENT = { hold: "fit", hold_wait_ms: LONG_MS };
const isAnswered = ({ text }: Answer): boolean => text.endsWith("data: [DONE]\n\n");

describe("C14: fifty streams of 64,000 tokens at $15 a million on a dollar", () => {
  test("held in full without waiting, some are refused with money left", async () => {
    const answers = await atOnce("full", Array(AT_ONCE).fill(long({})));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
    expect(await balanceOf("full")).toBeGreaterThan(DOLLAR * 0.9);
  });

  test("fitted and waiting, all are answered", async () => {
    const answers = await atOnce("fitted", Array(AT_ONCE).fill(long(PATIENT)));
    expect(answers.filter(isAnswered)).toHaveLength(AT_ONCE);
    expect(answers.some(({ text }) => text.includes("hold_fitted"))).toBe(true);
  });

  test("fitted and waiting, of those that cost more than there is together, all that can be paid for are answered", async () => {
    // Each costs some $0.03: a dollar pays for 33 and leaves too little for the shortest answer of another.
    const simulator = { tokens: 2_000, one_write: true };
    const answers = await atOnce("spent", Array(AT_ONCE).fill(long(PATIENT, { simulator })));
    const answered = answers.filter(isAnswered).length;
    expect(answered).toBeGreaterThanOrEqual(32);
    expect(answered).toBeLessThan(40);
    for (const { text } of answers) expect(text).toMatch(/\[DONE\]|insufficient_credits/);
    expect(await balanceOf("spent")).toBeLessThan(1_024 * OUTPUT + 200);
  });

  test("fitted and waiting, with a second attempt beside each that hangs, all are answered", async () => {
    const order = ["hangs", "good"];
    await routeBy(gateway, keys.hedged, "hedges", { order, only: order, hedge_after_ms: 5 });
    const answers = await atOnce("hedged", Array(AT_ONCE).fill(long({ ...PATIENT, route: undefined })));
    expect(answers.filter(isAnswered)).toHaveLength(AT_ONCE);
    expect(answers.some(({ text }) => text.includes("hold_fitted"))).toBe(true);
  });

  test("fitted and waiting, beside calls whose copies the org pays for, all that wait are answered", async () => {
    const endpoint = await endpointOf(gateway, keys.copied, "copy");
    const shadow = { endpoint, percent: 100, bill: "org" };
    await routeBy(gateway, keys.copied, "copies", { order: ["good"], only: ["good", "copy"], shadow });
    const before = gateway.simulator.totalCalls;
    const short = long({ route: undefined }, { max_tokens: 100 });
    const waits = long({ ...PATIENT, route: undefined });
    const all = Array.from({ length: AT_ONCE }, (_, index) => (index % 2 === 0 ? waits : short));
    const answers = await atOnce("copied", all);
    expect(answers.filter((answer, index) => index % 2 === 1 || isAnswered(answer))).toHaveLength(AT_ONCE);
    expect(gateway.simulator.totalCalls - before).toBeGreaterThan(answers.filter(isAnswered).length);
  });

  test("beside whole answers, several choices, reasoning, own keys, fallbacks and calls held in full, whoever waits is answered", async () => {
    const key = keys.mixed;
    const body = { provider: "own", credential: "sk-own-0123456789abcdef" };
    expect((await gateway.call("POST", "/v1/provider-keys", { body, key })).status).toBe(201);
    const kinds: readonly (readonly [object, object])[] = [
      [PATIENT, {}],
      [{ hold_wait_ms: LONG_MS }, {}],
      [PATIENT, { n: 3 }],
      [{ ...PATIENT, ...only("translated") }, { reasoning: { max_tokens: 2_000 } }],
      [{ ...PATIENT, ...only("own") }, { max_tokens: 100_000 }],
      [{ ...PATIENT, ...only("fails", "good") }, {}],
      [PATIENT, { max_tokens: undefined }],
      [{ hold: "fit" }, { stream: false }],
      [{}, { stream: false }],
    ];
    const all = Array.from({ length: AT_ONCE }, (_, index) => kinds[index % kinds.length] ?? [{}, {}]);
    const answers = await atOnce(
      "mixed",
      all.map(([svc, more]) => long(svc, more)),
    );
    for (const [index, answer] of answers.entries()) {
      if ("hold_wait_ms" in (all[index]?.[0] ?? {})) expect(isAnswered(answer), answer.text).toBe(true);
      else expect([200, 402], answer.text).toContain(answer.status);
    }
  });
});
