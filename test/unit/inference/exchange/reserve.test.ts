/**
 * Reservation where the balance is near, with real credits, budgets and limits: the prompt is counted by a worker, and
 * between the question and its answer any number of others may come, the worker may be too busy, the call may fail.
 */
import { afterAll, describe, expect, test } from "vitest";
import type { KeyContext } from "../../../../src/account/keyring.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { fail } from "../../../../src/base/errors.ts";
import { type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import type { LocalPurse, Purse } from "../../../../src/credits/ledger/purse.ts";
import { openLimits } from "../../../../src/credits/limits/limits.ts";
import { Call, type Incoming, type PlannedCall } from "../../../../src/inference/exchange/call.ts";
import { HoldQueue, type HoldQueueDeps } from "../../../../src/inference/exchange/reservation/hold-queue.ts";
import { releaseHolds } from "../../../../src/inference/exchange/reservation/holds.ts";
import { extend, reserve } from "../../../../src/inference/exchange/reserve.ts";
import { releaseAll } from "../../../../src/inference/exchange/settle.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";
import { promptTexts, readChatRequest } from "../../../../src/wire/chat/request.ts";
import { openPool } from "../../../../src/workers/pool.ts";
import { openCredits, type TestCredits, tempStore } from "../../../support/credits/fixtures.ts";
import { ManualTime } from "../../../support/jobs/fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

const temp = tempStore();
const { store } = temp;
const pool = openPool({ maxWaiting: 8 });
afterAll(async () => {
  await pool.close();
  await temp.dispose();
});

const endpoint = {
  id: "ep_p",
  provider: { id: "p", quirks: {} },
  maxOutput: 1000,
  dialects: ["chat"],
  imageTokens: 3200,
  prices: { version: "v", input: 1000, output: 2000 },
} as unknown as Endpoint;
const request = readChatRequest(
  Buffer.from(
    JSON.stringify({
      model: "m",
      messages: [{ role: "user", content: "count me ".repeat(50) }],
      max_tokens: 10,
    }),
  ),
);

let orgs = 0;
/** Books of an org of its own with so much credit. */
async function books(
  creditMicroUsd: number,
  hardBudgetMicroUsd?: number,
  asked = request,
  onBudgetExceeded = () => {},
) {
  const orgId = `org_${++orgs}`;
  const credits: TestCredits = openCredits({ store, clock: systemClock });
  const budgets: LocalBudgets = openBudgets({ store, clock: systemClock, onBudgetExceeded });
  const grant = { kind: "grant", refType: "test", refId: orgId, amountMicroUsd: creditMicroUsd } as const;
  await credits.post(orgId, grant);
  const key = {
    keyId: `key_${orgs}`,
    projectId: `prj_${orgs}`,
    orgId,
    environment: "live",
    timeZone: "UTC",
    limits: { concurrency: 5 },
    ...(hardBudgetMicroUsd !== undefined && { keyBudget: { dailyMicroUsd: hardBudgetMicroUsd, hard: true } }),
  } as KeyContext;
  const plan = () =>
    Object.assign(new Call({ key, format: chatFormat } as unknown as Incoming), {
      request: asked,
      plan: { attempts: [endpoint] },
    }) as unknown as PlannedCall;
  const countPrompt = async () => {
    const counts = await pool.countTokens(promptTexts(asked), "o200k_base");
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return {
    orgId,
    key,
    credits,
    budgets,
    plan,
    deps: {
      purse: credits.purse,
      budgets,
      byokFee: NO_FEE,
      bodies: { countPrompt },
      defaultMaxTokens: 100,
      minFitTokens: 10,
      waits: NO_WAITS,
      keyring: { current: (): KeyContext => key },
    },
  };
}

const fitting = readChatRequest(
  Buffer.from(
    JSON.stringify({
      model: "m",
      messages: [{ role: "user", content: "Count me." }],
      max_tokens: 1000,
      svc: { hold: "fit" },
    }),
  ),
);

/** A purse that answers some questions in another way, as that of a cell does. */
const served = (own: LocalPurse, otherwise: Partial<Purse>): Purse => ({
  funds: (org) => own.funds(org),
  available: (org) => own.available(org),
  balance: (org) => own.balance(org),
  askAvailable: (org) => own.askAvailable(org),
  hold: (org, microUsd) => own.hold(org, microUsd),
  extend: (hold, microUsd) => own.extend(hold, microUsd),
  settle: (hold, charge) => own.settle(hold, charge),
  release: (hold) => own.release(hold),
  life: own.life,
  isRetired: () => own.isRetired(),
  chargeFormer: (org, charge) => own.chargeFormer(org, charge),
  open: () => own.open(),
  ...otherwise,
});

/** These calls wait for none. */
const NO_WAITS = {
  hasLine: () => false,
  hasRoom: () => false,
  enter: () => Promise.reject(new Error("this call may not wait")),
};

const NO_FEE = { bps: 0, microUsdPerRequest: 0 };

/** What one call holds, counted exactly and by the bound. */
async function amounts(): Promise<{ exact: number; bound: number }> {
  const rich = await books(1_000_000_000);
  await reserve(rich.deps, rich.plan());
  const near = await books(rich.credits.open().heldMicroUsd * 2);
  await reserve(near.deps, near.plan());
  return { exact: near.credits.open().heldMicroUsd, bound: rich.credits.open().heldMicroUsd };
}

describe("T24: where the balance is near", () => {
  test("an exact count admits what the bound would refuse", async () => {
    const { exact, bound } = await amounts();
    expect(exact).toBeLessThan(bound);
    const { deps, plan, credits } = await books(exact);
    await reserve(deps, plan());
    expect(credits.open()).toEqual({ holds: 1, heldMicroUsd: exact });
  });

  test("credit that another process must be asked for is asked for first, and what is plenty needs no count", async () => {
    const { bound } = await amounts();
    const { deps, plan, credits } = await books(bound * 8);
    const own = credits.purse;
    // As a cell's, which has no lease yet.
    const purse = served(own, { available: () => 0, askAvailable: async () => bound * 8 });
    let counts = 0;
    const bodies = {
      countPrompt: () => {
        counts++;
        return Promise.resolve(1);
      },
    };
    await reserve({ ...deps, purse, bodies }, plan());
    expect([counts, credits.open().heldMicroUsd]).toEqual([0, bound]);
  });

  test("O20: images that stand elsewhere are held for beside the count, which is of their addresses", async () => {
    const parts = Array.from({ length: 10 }, () => ({
      type: "image_url",
      image_url: { url: "https://e/x.png" },
    }));
    const messages = [{ role: "user", content: parts }];
    const asked = readChatRequest(Buffer.from(JSON.stringify({ model: "m", messages, max_tokens: 10 })));
    const { deps, plan, credits } = await books(40_000, undefined, asked);
    await reserve(deps, plan());
    // A micro a token.
    expect(credits.open().heldMicroUsd).toBeGreaterThan(10 * endpoint.imageTokens);
  });

  test("200 that wait for their counts at once admit one", async () => {
    const { exact } = await amounts();
    const { deps, plan, credits, budgets, orgId } = await books(exact);
    const all = await Promise.allSettled(
      Array.from({ length: 200 }, async () => await reserve(deps, plan())),
    );
    const refused = all.filter((one) => one.status === "rejected");
    expect(refused).toHaveLength(199);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: "insufficient_credits" });
    expect(credits.balance(orgId).availableMicroUsd).toBe(0);
    expect([credits.open().holds, budgets.openHolds()]).toEqual([1, 1]);
  });

  test("where no worker is free the bound of the estimate is held", async () => {
    const { bound } = await amounts();
    const { deps, plan, credits } = await books(bound);
    const bodies = { countPrompt: () => Promise.reject(new Error("too many token counts wait")) };
    const busy = { ...deps, bodies };
    await reserve(busy, plan());
    expect(credits.open().heldMicroUsd).toBe(bound);
    const short = await books(bound - 1);
    await expect(async () => await reserve({ ...short.deps, bodies }, short.plan())).rejects.toThrow(
      /may cost up to/,
    );
    expect([short.credits.open().holds, short.budgets.openHolds()]).toEqual([0, 0]);
  });
});

test("T40: a hold that its budget lets grow no further does not go on taking credit with every try", async () => {
  const { exact } = await amounts();
  const { deps, plan, credits } = await books(exact * 3, exact + 50);
  const { reservation } = await reserve(deps, plan());
  const heldBefore = credits.open().heldMicroUsd;
  for (let tries = 0; tries < 5; tries++) expect(extend(deps, reservation, endpoint, 1000)).toBe(false);
  expect(credits.open().heldMicroUsd).toBe(heldBefore);
  expect(extend(deps, reservation, endpoint, 10)).toBe(true);
  expect(credits.open().heldMicroUsd).toBe(heldBefore + 10 * 2 + 1);
});

describe("C14: a call that may be fitted", () => {
  test("tells of no budget as exceeded where it is fitted to it, and does where it is refused", async () => {
    let told = 0;
    const { deps, plan, budgets } = await books(1_000_000, 1000, fitting, () => told++);
    const { reservation } = await reserve(deps, plan());
    expect([told, budgets.openHolds()]).toEqual([0, 1]);
    expect(reservation.holds?.budget.amountMicroUsd).toBeLessThanOrEqual(1000);
    expect(reservation.holds?.budget.amountMicroUsd).toBeGreaterThan(990);
    const second = async () => await reserve(deps, plan());
    await expect(second).rejects.toMatchObject({ code: "budget_exceeded" });
    expect([told, budgets.openHolds()]).toEqual([1, 1]);
  });

  test("is fitted anew where others take the credit in between, and refused where they always do", async () => {
    const { deps, plan, credits, orgId } = await books(1500, undefined, fitting);
    const own = credits.purse;
    let others = 3;
    const purse = served(own, {
      hold: async (org, microUsd) => {
        await Promise.resolve();
        if (others-- > 0) own.hold(org, 100);
        return own.hold(org, microUsd);
      },
    });
    const { reservation } = await reserve({ ...deps, purse }, plan());
    // The hold in full was refused, and two that were fitted.
    expect(others).toBe(-1);
    const held = reservation.holds?.credit.amountMicroUsd ?? 0;
    expect(credits.balance(orgId).availableMicroUsd).toBe(1500 - 300 - held);
    expect(credits.balance(orgId).availableMicroUsd).toBeLessThan(2);
    const never = served(own, { hold: async () => undefined, available: () => 1200 });
    const refused = async () => await reserve({ ...deps, purse: never }, plan());
    await expect(refused).rejects.toMatchObject({ code: "insufficient_credits" });
  });
});

describe("C14: a call that waits", () => {
  const WAIT_MS = 5000;
  const waiting = (hold: "full" | "fit") =>
    readChatRequest(
      Buffer.from(
        JSON.stringify({
          model: "m",
          messages: [{ role: "user", content: "Count me." }],
          stream: true,
          max_tokens: 100,
          svc: { hold, hold_wait_ms: WAIT_MS },
        }),
      ),
    );

  /** One call holds all the credit, and another one waits for it. */
  async function line(hold: "full" | "fit" = "full") {
    const told: string[] = [];
    const asked = waiting(hold);
    const { heldMicroUsd } = await sizeOf(asked);
    const { deps, plan, credits, budgets, key, orgId } = await books(heldMicroUsd, undefined, asked, () =>
      told.push("exceeded"),
    );
    const time = new ManualTime();
    const waits = new HoldQueue({
      purse: credits.purse,
      budgets,
      clock: time,
      timers: time,
      limits: { state: () => ({ requests: undefined, tokens: undefined }) },
      maxWaiting: 9,
      maxWaitingOfOrg: 9,
      keepAliveMs: 0,
    } as unknown as HoldQueueDeps);
    const now = { current: (): KeyContext => key };
    const all = { ...deps, waits, keyring: { current: () => now.current() } };
    const held = await reserve(all, plan());
    const waiter = plan();
    Object.assign(waiter.incoming, { reply: { openStream() {}, write() {}, onGone() {} } });
    const wait = (async () => await reserve(all, waiter))();
    const settled = wait.catch(() => {});
    await until("it waits", () => waits.size, equals(1));
    /** The first call ends, without a charge. */
    const letGo = async () => {
      if (held.reservation.holds !== undefined) releaseHolds(deps, held.reservation.holds);
      waits.freed(orgId);
      await settled;
    };
    return { wait, letGo, now, key, told, credits, budgets, time, heldMicroUsd };
  }

  async function sizeOf(asked: typeof request) {
    const rich = await books(1_000_000, undefined, asked);
    await reserve(rich.deps, rich.plan());
    const near = await books(rich.credits.open().heldMicroUsd * 2, undefined, asked);
    await reserve(near.deps, near.plan());
    return near.credits.open();
  }

  test.each(["revoked_key", "expired_key", "org_closed"] as const)(
    "is refused as a new call would be, where its key works no more: %s",
    async (code) => {
      const { wait, letGo, now, credits, budgets } = await line();
      now.current = () => {
        throw fail(code, "no more");
      };
      await letGo();
      await expect(wait).rejects.toMatchObject({ kind: code });
      expect([credits.open().holds, budgets.openHolds()]).toEqual([0, 0]);
    },
  );

  test.each(["full", "fit"] as const)("is held for by the budgets of its key by then: %s", async (hold) => {
    const { wait, letGo, now, key, told, credits, budgets } = await line(hold);
    now.current = () => ({ ...key, keyBudget: { dailyMicroUsd: 20, hard: true } });
    await letGo();
    await expect(wait).rejects.toMatchObject({ code: "budget_exceeded" });
    expect([credits.open().holds, budgets.openHolds()]).toEqual([0, 0]);
    // One that refuses a call that waits is told of, as any.
    expect(told).toEqual(["exceeded"]);
  });

  test("is refused where a line is full, and passes none of those in it", async () => {
    const { deps, plan, credits } = await books(1_000_000, undefined, waiting("full"));
    const full = { ...NO_WAITS, hasLine: () => true };
    const late = async () => await reserve({ ...deps, waits: full }, plan());
    await expect(late).rejects.toMatchObject({ code: "insufficient_credits" });
    expect(credits.open().holds).toBe(0);
    // One that may not wait takes what is free.
    const { deps: others, plan: other, credits: free } = await books(1_000_000);
    await reserve({ ...others, waits: full }, other());
    expect(free.open().holds).toBe(1);
  });

  test("has its hold where its key is as it was", async () => {
    const { wait, letGo, credits, heldMicroUsd } = await line();
    await letGo();
    expect((await wait).reservation.holds?.credit.amountMicroUsd).toBe(heldMicroUsd);
    expect(credits.open().holds).toBe(1);
  });
});

describe("T26, T65: a fault on the way out gives everything back, wherever it struck", () => {
  test.each([
    ["before anything was closed", []],
    ["after the slot was given back", ["slot"]],
    ["after the budget was charged", ["slot", "budget"]],
    ["after the credit was settled", ["slot", "budget", "credit"]],
  ])("%s", async (_, closed) => {
    const { deps, plan, credits, budgets, key } = await books(1_000_000);
    const limits = openLimits({ clock: systemClock });
    const planned = plan();
    const admission = limits.admit(key, 1);
    if (!admission.admitted) throw new Error("not admitted");
    const { reservation } = await reserve(deps, planned);
    const { credit, budget } = reservation.holds ?? {};
    if (closed.includes("slot")) admission.release();
    if (closed.includes("budget") && budget !== undefined) await store.act(budgets.charging(budget, 5));
    if (closed.includes("credit") && credit !== undefined) {
      await credits.settle(credit, { requestId: "R", amountMicroUsd: 5, atMs: systemClock.now() });
    }
    releaseAll(deps, planned.withAdmission(admission));
    expect([
      credits.open().holds,
      credits.open().heldMicroUsd,
      budgets.openHolds(),
      limits.inFlight(),
    ]).toEqual([0, 0, 0, 0]);
  });
});
