/** Calls of all modes at cells: reserved as the exchange does, over leased credit and budgets, with a line of waiting calls at each cell. */
import type { KeyContext } from "../../../../src/account/keyring.ts";
import type { HoldMode } from "../../../../src/base/call/hold-mode.ts";
import { systemClock, systemTimers } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import type { ClientReply } from "../../../../src/inference/client-reply.ts";
import { Call, type Incoming, type PlannedCall } from "../../../../src/inference/exchange/call.ts";
import { HoldQueue, type HoldQueueDeps } from "../../../../src/inference/exchange/reservation/hold-queue.ts";
import { charging, type Holds, releaseHolds } from "../../../../src/inference/exchange/reservation/holds.ts";
import { type ReserveDeps, reserve } from "../../../../src/inference/exchange/reserve.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";
import { readChatRequest } from "../../../../src/wire/chat/request.ts";
import { type BudgetCell, openBudgetCell, scopeOf } from "./budgets/budgets-fixtures.ts";
import type { Bench } from "./fixtures.ts";

/** Micro-USD a token; the prompt costs nothing. */
const PRICE = 10;
/** What each hold has for roundings. */
export const MARGIN = 4;
export const MIN_FIT_TOKENS = 10;
/** What a call of so many tokens holds in full, micro-USD. */
export const inFull = (tokens: number): number => tokens * PRICE + MARGIN;

const ENDPOINT = {
  id: "ep",
  provider: { id: "p", quirks: {} },
  dialects: ["chat"],
  maxOutput: 100_000,
  imageTokens: 0,
  prices: { version: "v", input: 0, output: PRICE * 1000 },
} as unknown as Endpoint;

const NO_REPLY = { openStream() {}, write: () => true, onGone() {} } as unknown as ClientReply;

export interface Asked {
  readonly tokens: number;
  readonly hold?: HoldMode;
  readonly waitMs?: number;
}

export interface HeldCall {
  readonly heldMicroUsd: number;
  /** Output limit that the upstream is told; undefined: what was asked for. */
  readonly limit: number | undefined;
  /** Milliseconds in the line. */
  readonly waitedMs: number;
  settle(costMicroUsd: number): Promise<unknown>;
  giveUp(): void;
}

export interface HoldCell {
  readonly cell: BudgetCell;
  readonly queue: HoldQueue;
  /** @throws WeirError 402, or 503 where a cell cannot know in time */
  hold(id: string, asked: Asked): Promise<HeldCall>;
  cut(): void;
  stop(): Promise<void>;
}

let requests = 0;

/** @param budgets of every call's key, project and org */
export async function openHoldCell(
  bench: Bench,
  name: string,
  budgets: Partial<BudgetScope> = {},
): Promise<HoldCell> {
  const cell = await openBudgetCell(bench, name);
  const { purse } = cell;
  const queue = new HoldQueue({
    purse,
    budgets: cell.budgets,
    clock: systemClock,
    timers: systemTimers,
    limits: { state: () => ({ requests: undefined, tokens: undefined }) },
    maxWaiting: 10_000,
    maxWaitingOfOrg: 10_000,
    keepAliveMs: 0,
  } as unknown as HoldQueueDeps);
  const deps: ReserveDeps = {
    purse,
    budgets: cell.budgets,
    waits: queue,
    byokFee: { bps: 0, microUsdPerRequest: 0 },
    defaultMaxTokens: 100,
    minFitTokens: MIN_FIT_TOKENS,
    bodies: { countPrompt: () => Promise.resolve(1) },
    keyring: { current: (key) => key as KeyContext },
  };

  async function hold(id: string, asked: Asked): Promise<HeldCall> {
    const { reservation, waitedMs } = await reserve(deps, planned(keyOf(scopeOf(id, budgets)), asked));
    const holds = reservation.holds as Holds;
    const over = () => queue.freed(scopeOf(id).orgId);
    return {
      heldMicroUsd: holds.credit.amountMicroUsd,
      limit: reservation.fit?.get(ENDPOINT.id)?.limit,
      waitedMs,
      async settle(amountMicroUsd) {
        const charge = { requestId: `req_${name}_${++requests}`, amountMicroUsd, atMs: systemClock.now() };
        await cell.store.act(charging(deps, holds, charge), { isOwed: true });
        over();
      },
      giveUp() {
        releaseHolds(deps, holds);
        over();
      },
    };
  }

  return { cell, queue, hold, cut: () => cell.cut(), stop: () => cell.stop() };
}

/** So much credit, and no more, for the org of these calls. */
export const pay = (bench: Bench, id: string, microUsd: number): Promise<unknown> =>
  bench.link.call("HSET", `{weir}:credit:${scopeOf(id).orgId}`, "n", 0, "b", microUsd);

const scopes = new Map<string, KeyContext>();

/** One for all calls of a key: budgets know it by that. */
function keyOf(scope: BudgetScope): KeyContext {
  let key = scopes.get(scope.keyId);
  if (key === undefined) {
    const { keyDaily, projectMonthly, orgMonthly } = scope;
    key = {
      keyId: scope.keyId,
      projectId: scope.projectId,
      orgId: scope.orgId,
      timeZone: scope.timeZone,
      lineageId: scope.lineageId ?? scope.keyId,
      environment: "live",
      hold: "full",
      keyBudget: keyDaily && { dailyMicroUsd: keyDaily.limitMicroUsd, hard: keyDaily.hard },
      projectBudget: projectMonthly && {
        monthlyMicroUsd: projectMonthly.limitMicroUsd,
        hard: projectMonthly.hard,
      },
      orgBudget: orgMonthly && { monthlyMicroUsd: orgMonthly.limitMicroUsd, hard: orgMonthly.hard },
    } as KeyContext;
    scopes.set(scope.keyId, key);
  }
  return key;
}

function planned(key: KeyContext, { tokens, hold = "full", waitMs = 0 }: Asked): PlannedCall {
  const svc = { hold, hold_wait_ms: waitMs };
  const body = {
    model: "m",
    messages: [{ role: "user", content: "x" }],
    max_tokens: tokens,
    stream: true,
    svc,
  };
  const incoming = { key, format: chatFormat, reply: NO_REPLY } as unknown as Incoming;
  return Object.assign(new Call(incoming), {
    request: readChatRequest(Buffer.from(JSON.stringify(body))),
    plan: { attempts: [ENDPOINT] },
  }) as unknown as PlannedCall;
}
