/**
 * The cap is hard: credit or budget for one call admits one call of any number at once, a stream is extended or cut,
 * and only an upstream that reports more than was held takes a balance below zero.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { type Answer, sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import {
  auditedLedger,
  chargesOf,
  idle,
  metric,
  spendOfProjects,
  sum,
} from "../../support/money/fixtures.ts";
import { addOrgs } from "../../support/money/orgs.ts";
import { until } from "../../support/wait.ts";

const AT_ONCE = amount(200, 100);
/** Micro-USD a token of `test/model`, in and out. */
const INPUT = 1;
const OUTPUT = 2;
const DEFAULT_MAX_TOKENS = 60;
/** Beyond what a stream holds at first. */
const SPARE = 300;

const common = {
  model: "test/model",
  messages: [{ role: "user", content: "Admit exactly one of us." }],
  svc: { route: { providers: { only: ["good"] } } },
};
const bounded = { ...common, max_tokens: 100, simulator: { tokens: 100, first_ms: 300 } };
const flood = { total_bytes: 4_000_000, event_bytes: 1000, usage: "none" };
const bodies = {
  whole: { ...bounded, stream: false },
  stream: { ...bounded, stream: true },
  keeps: { ...common, stream: true, max_tokens: 100, simulator: { tokens: 100, gap_ms: 1 } },
  ignores: { ...common, stream: true, max_tokens: 100, simulator: flood },
  slow: { ...common, stream: true, simulator: { tokens: 400, gap_ms: 2 } },
  burst: { ...common, stream: true, simulator: { tokens: 20_000, one_write: true } },
};
type Body = keyof typeof bodies;
const BOTH = ["whole", "stream"] as const;

/** @param prepare runs before the first gateway starts */
export function capCases(prepare: () => void = () => {}): void {
  const folder = mkdtempSync(join(tmpdir(), "weir-cap-"));
  const options = {
    folder,
    endpoints: [
      { provider: "good", price: { input: INPUT, output: OUTPUT } },
      { provider: "bad", price: { input: 0.5, output: 50 }, instruction: { status: 500 } },
    ],
    settings: { limits: { default_max_tokens: DEFAULT_MAX_TOKENS } },
  };

  let gateway: TestGateway;
  /** What each call holds where the balance is near: its prompt is counted, so every byte of the body matters. */
  const near = {} as Record<Body, number>;
  /** What it holds where the balance is far: more, because the prompt is not counted. */
  const far = {} as Record<Body, number>;
  /** The secrets of orgs that have credit for one call of the kind in their name. */
  let orgs: Record<Body | "leaves_0" | "leaves_1" | "extends" | "exceeds", string>;

  beforeAll(async () => {
    prepare();
    // A first life tells what calls hold, so that the second can begin with orgs that have exactly so much. Orgs are added to the
    // folder of a gateway alone.
    gateway = await testGateway({ ...options, cells: 0 });
    const { poor } = await restartWith({ poor: { creditMicroUsd: 1 } }, { cells: 0 });
    for (const kind of Object.keys(bodies) as Body[]) {
      const { json } = await gateway.chat(bodies[kind], { key: poor });
      expect(json.error.code).toBe("insufficient_credits");
      near[kind] = json.error.details.required_micro_usd;
    }
    for (const kind of BOTH) far[kind] = await heldBy(bodies[kind]);
    orgs = await restartWith({
      leaves_0: { creditMicroUsd: near.whole },
      leaves_1: { creditMicroUsd: near.whole },
      whole: { creditMicroUsd: near.whole },
      stream: { creditMicroUsd: near.stream },
      keeps: { creditMicroUsd: near.keeps },
      ignores: { creditMicroUsd: near.ignores },
      slow: { creditMicroUsd: near.slow + SPARE },
      burst: { creditMicroUsd: near.burst + SPARE },
      extends: { creditMicroUsd: 1_000_000 },
      exceeds: { creditMicroUsd: 10_000 },
    });
  }, 60_000);
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function restartWith<Name extends string>(
    specs: Parameters<typeof addOrgs<Name>>[1],
    more: { readonly cells?: number } = {},
  ) {
    await gateway.stop();
    const secrets = await addOrgs(folder, specs);
    gateway = await testGateway({ ...options, ...more });
    return secrets;
  }

  /** What a call of the first org holds while it runs; it is made again where that was over before it was seen. */
  const heldBy = (body: Record<string, unknown>): Promise<number> =>
    until("it is seen what the call holds", async () => {
      let isAnswered = false;
      const call = gateway.chat(body).finally(() => {
        isAnswered = true;
      });
      const held = await until(
        "the call is held, or answered",
        () => metric(gateway, "weir_held_micro_usd"),
        (microUsd) => microUsd > 0 || isAnswered,
      );
      expect((await call).status).toBe(200);
      await idle(gateway);
      return held;
    });

  /** What is available; neither that nor what is held is ever below zero. */
  async function balanceOf(key: string): Promise<number> {
    const { json } = await gateway.call("GET", "/v1/credits", { key });
    expect(json.available_micro_usd).toBeGreaterThanOrEqual(0);
    expect(json.held_micro_usd).toBeGreaterThanOrEqual(0);
    return json.available_micro_usd;
  }

  /** The books of one org: its key reads only its own. */
  const booksOf = (key: string) => ({
    call: (method: string, path: string, more: object = {}) => gateway.call(method, path, { key, ...more }),
  });

  /** So many calls at once, with the keys in turn; how many came through, and the errors of the others. */
  async function atOnce(
    kind: Body,
    keys: readonly string[],
  ): Promise<{ admitted: number; errors: unknown[] }> {
    const before = gateway.simulator.totalCalls;
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) =>
        gateway.chat(bodies[kind], { key: keys[i % keys.length] as string }),
      ),
    );
    await idle(gateway);
    const admitted = answers.filter((a) => a.status === 200);
    expect(gateway.simulator.totalCalls - before).toBe(admitted.length);
    const errors = answers.filter((a) => a.status !== 200).map((a: Answer) => [a.status, a.json.error.code]);
    return { admitted: admitted.length, errors };
  }

  const refused = (code: string) => Array.from({ length: AT_ONCE - 1 }, () => [402, code]);

  // First, while the tokenizer is not loaded: counting takes long enough to leave in the midst of it.
  test.each(["leaves_0", "leaves_1"] as const)(
    "T16, T19, T26: a client may leave while its prompt is counted: %s",
    async (org) => {
      const before = gateway.simulator.totalCalls;
      const messages = [{ role: "user", content: "long ".repeat(200_000) }];
      const body = JSON.stringify({ ...bodies.whole, stream: org === "leaves_1", messages });
      /** @returns false where the call was refused, since the credit does not cover it, before it was seen to be under way */
      const leavesInTime = async () => {
        const leave = new AbortController();
        let isAnswered = false;
        const call = fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${orgs[org]}`, "content-type": "application/json" },
          body,
          signal: leave.signal,
        }).finally(() => {
          isAnswered = true;
        });
        const isUnderWay = async () => (await metric(gateway, "weir_calls_live")) === 1;
        await until("the call is under way, or answered", async () => isAnswered || (await isUnderWay()));
        if (isAnswered) {
          expect((await call).status).toBe(402);
          return false;
        }
        leave.abort();
        await expect(call).rejects.toThrow();
        return true;
      };
      await until("the client leaves in the midst of it", leavesInTime);
      await idle(gateway);
      expect(gateway.simulator.totalCalls).toBe(before);
      expect(await balanceOf(orgs[org])).toBe(near.whole);
    },
  );

  describe(`T24, T25: ${AT_ONCE} at once with room for one`, () => {
    test.each(BOTH)("of credit: %s", async (kind) => {
      const key = orgs[kind];
      let over = false;
      const all = atOnce(kind, [key]).finally(() => {
        over = true;
      });
      // Looks at the balance again and again meanwhile: it is never below zero.
      while (!over) await balanceOf(key);
      expect(await all).toEqual({ admitted: 1, errors: refused("insufficient_credits") });
      const charged = sum(chargesOf(await auditedLedger(booksOf(key))).values());
      expect(charged).toBeGreaterThan(100 * OUTPUT);
      expect(await balanceOf(key)).toBe(near[kind] - charged);
    });

    test.each(BOTH)("of a key's hard daily budget: %s", async (kind) => {
      const budget = { daily_micro: far[kind], hard: true };
      const { json: made } = await gateway.call("POST", "/v1/keys", { body: { name: kind, budget } });
      expect(await atOnce(kind, [made.secret])).toEqual({ admitted: 1, errors: refused("budget_exceeded") });
      const { json } = await gateway.call("GET", "/v1/limits");
      const key = json.keys.find((k: { key_id: string }) => k.key_id === made.id);
      expect(key.spend_month_micro).toBeGreaterThan(0);
      expect(key.spend_month_micro).toBeLessThanOrEqual(far[kind]);
    });

    test.each(BOTH)("of a project's hard monthly budget, over two keys: %s", async (kind) => {
      const body = { slug: kind, name: kind, environment: "live" };
      const { id } = (await gateway.call("POST", "/v1/projects", { body })).json;
      const budget = { monthly_micro: far[kind], hard: true };
      await gateway.call("PATCH", `/v1/projects/${id}`, { body: { budget } });
      const make = (name: string) => gateway.call("POST", "/v1/keys", { body: { name, project_id: id } });
      const keys = [(await make("a")).json.secret, (await make("b")).json.secret];
      expect(await atOnce(kind, keys)).toEqual({ admitted: 1, errors: refused("budget_exceeded") });
      const spend = (await spendOfProjects(gateway)).get(id) ?? 0;
      expect(spend).toBeGreaterThan(0);
      expect(spend).toBeLessThanOrEqual(far[kind]);
    });
  });

  describe(`T24, T25: ${AT_ONCE} at once with room for one`, () => {
    test.each(BOTH)("of the org's hard monthly budget, over two projects: %s", async (kind) => {
      const org = async () => (await gateway.call("GET", "/v1/limits")).json.org;
      const setBudget = async (budget: object) => {
        const [{ id }] = (await gateway.call("GET", "/v1/orgs")).json.data;
        const { status } = await gateway.call("PATCH", `/v1/orgs/${id}`, { body: { settings: { budget } } });
        expect(status).toBe(200);
      };
      const keyOf = async (slug: string) => {
        const project = { slug: `${kind}-${slug}`, name: slug, environment: "live" };
        const { id } = (await gateway.call("POST", "/v1/projects", { body: project })).json;
        return (await gateway.call("POST", "/v1/keys", { body: { name: slug, project_id: id } })).json.secret;
      };
      const keys = [await keyOf("a"), await keyOf("b")];
      const limit = (await org()).spend_month_micro + far[kind];
      await setBudget({ monthly_micro: limit, hard: true });
      expect(await atOnce(kind, keys)).toEqual({ admitted: 1, errors: refused("budget_exceeded") });
      const { budget, spend_month_micro: spend } = await org();
      expect(budget).toEqual({ monthly_micro: limit, hard: true });
      expect(spend).toBeLessThanOrEqual(limit);
      expect(spend).toBe(sum((await spendOfProjects(gateway)).values()));
      const { json } = await gateway.chat(bodies[kind], { key: keys[0] as string });
      expect([json.error.code, json.error.details.budget]).toEqual(["budget_exceeded", "org_monthly"]);
      // From the next call on there is none.
      await setBudget({ monthly_micro: null });
      expect((await gateway.chat(bodies[kind], { key: keys[0] as string })).status).toBe(200);
    });
  });

  interface Chunk {
    readonly error?: { readonly code: string };
    readonly choices?: { readonly delta: { readonly content?: string } }[];
    readonly svc?: { readonly cost: { readonly total_micro_usd: number }; readonly warnings: string[] };
  }

  async function streamed(key: string, body: Record<string, unknown>) {
    const answer = await gateway.chat(body, { key });
    // Where the first read is more than the credit pays for, nothing has been sent yet, and the error is an ordinary one.
    const chunks = (answer.status === 402 ? [answer.json] : sseData(answer.text)) as (Chunk | "[DONE]")[];
    const contents = chunks.map((c) => (c === "[DONE]" ? "" : (c.choices?.[0]?.delta.content ?? "")));
    await idle(gateway);
    return {
      requestId: answer.headers.get("x-svc-request-id") ?? "",
      last: chunks.at(-1),
      usage: chunks.at(-2) as Chunk,
      tokens: contents.filter((text) => text !== "").length,
      bytes: Buffer.byteLength(contents.join("")),
    };
  }

  describe("T40: a stream that uses up its hold", () => {
    test("is extended while the credit allows, and charged what the provider reports", async () => {
      const before = await balanceOf(orgs.extends);
      const simulator = { tokens: 2000, prompt_tokens: 10 };
      const { tokens, last, usage } = await streamed(orgs.extends, { ...common, stream: true, simulator });
      expect([tokens, last]).toEqual([2000, "[DONE]"]);
      const cost = 10 * INPUT + 2000 * OUTPUT;
      expect(usage.svc).toMatchObject({ cost: { total_micro_usd: cost }, warnings: [] });
      expect(cost).toBeGreaterThan(near.slow);
      expect(await balanceOf(orgs.extends)).toBe(before - cost);
    });

    test.each(["slow", "burst"] as const)(
      "is cut where the credit ends, and pays for what it got: %s",
      async (kind) => {
        const key = orgs[kind];
        const { requestId, tokens, bytes, last } = await streamed(key, bodies[kind]);
        expect(last).toMatchObject({ error: { code: "insufficient_credits" } });
        const { json } = await gateway.call("GET", `/v1/requests/${requestId}`, { key });
        expect(json).toMatchObject({ status: "error", error_code: "insufficient_credits" });
        expect(tokens).toBeLessThan((near[kind] + SPARE) / OUTPUT);
        expect(json.output_tokens).toBe(Math.ceil(bytes / 4));
        const charge = chargesOf(await auditedLedger(booksOf(key))).get(requestId) ?? 0;
        expect(charge).toBe(json.cost_micro);
        expect(await balanceOf(key)).toBe(near[kind] + SPARE - charge);
        // One read of the upstream may be more than all the credit pays for: nothing of it is delivered, nor charged.
        if (kind === "slow") expect(charge).toBeGreaterThan(DEFAULT_MAX_TOKENS * OUTPUT);
      },
    );

    test("is never cut where it keeps to its max_tokens, with credit for that and no more", async () => {
      const { tokens, last } = await streamed(orgs.keeps, bodies.keeps);
      expect([tokens, last]).toEqual([100, "[DONE]"]);
      expect(await balanceOf(orgs.keeps)).toBeLessThan(near.keeps - 100 * OUTPUT);
    });

    test("is cut where the upstream ignores max_tokens, and the balance is not passed", async () => {
      const { last } = await streamed(orgs.ignores, bodies.ignores);
      expect(last).toMatchObject({ error: { code: "insufficient_credits" } });
      expect(await balanceOf(orgs.ignores)).toBeGreaterThanOrEqual(0);
    });
  });

  test("an upstream that reports more than was held is charged in full, warned about and counted", async () => {
    const key = orgs.exceeds;
    const before = await metric(gateway, "weir_reserve_exceeded_total");
    const usage = { prompt_tokens: 9_000, completion_tokens: 9_000 };
    const { json } = await gateway.chat({ ...bounded, simulator: { usage } }, { key });
    expect(json.svc.warnings).toEqual(["reserve_exceeded"]);
    expect(json.svc.cost.total_micro_usd).toBe(9_000 * (INPUT + OUTPUT));
    await idle(gateway);
    expect(await metric(gateway, "weir_reserve_exceeded_total")).toBe(before + 1);
    const { json: credits } = await gateway.call("GET", "/v1/credits", { key });
    expect(credits).toMatchObject({ available_micro_usd: 10_000 - 27_000, held_micro_usd: 0 });
    // Nothing more until it is paid.
    expect((await gateway.chat(bodies.whole, { key })).status).toBe(402);
  });

  test("T43: a call that falls back is one charge, at the price of the endpoint that served it", async () => {
    const before = chargesOf(await auditedLedger(gateway));
    const calls = gateway.simulator.totalCalls;
    const route = { providers: { order: ["bad", "good"] } };
    const { json, status } = await gateway.chat({ ...bounded, simulator: {}, svc: { route } });
    expect([status, json.svc.provider]).toEqual([200, "good"]);
    expect(gateway.simulator.totalCalls).toBe(calls + 2);
    const { prompt_tokens, completion_tokens } = json.usage;
    const cost = prompt_tokens * INPUT + completion_tokens * OUTPUT;
    expect(json.svc.cost.total_micro_usd).toBe(cost);
    const after = chargesOf(await auditedLedger(gateway));
    expect(after.size).toBe(before.size + 1);
    expect(after.get(json.svc.request_id)).toBe(cost);
  });
}
