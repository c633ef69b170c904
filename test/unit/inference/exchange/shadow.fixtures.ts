/**
 * Shadow runs with real credits, health and store, and upstreams that the test holds: a call under way whose plan has a
 * shadow, and what its copy is sent, answered and charged.
 */
import type { ShadowRow } from "../../../../src/analytics/outbox/shadow-rows.ts";
import { systemTimers } from "../../../../src/base/clock.ts";
import { openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { openLimits } from "../../../../src/credits/limits/limits.ts";
import { Call, type Incoming, type ReservedCall } from "../../../../src/inference/exchange/call.ts";
import {
  openShadows,
  type ShadowDeps,
  type Shadows,
} from "../../../../src/inference/exchange/shadow/shadow.ts";
import type { PrimaryEnding } from "../../../../src/inference/exchange/shadow/shadow-ending.ts";
import type { UpstreamHandler, UpstreamRequest } from "../../../../src/inference/upstream/upstreams.ts";
import { Health } from "../../../../src/routing/health/health.ts";
import { DEFAULT_DECISION, type Shadow } from "../../../../src/routing/planner/decision.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";
import { ManualClock, openCredits, tempStore } from "../../../support/credits/fixtures.ts";
import { endpoint, model } from "../../../support/routing/fixtures.ts";
import { giveData } from "../../../support/upstream/give-data.ts";

export interface Sent {
  readonly request: UpstreamRequest;
  readonly handler: UpstreamHandler;
  cancelled: boolean;
}

export interface Given {
  readonly bill?: Shadow["bill"];
  readonly body?: Record<string, unknown>;
  readonly key?: Record<string, unknown>;
  readonly incoming?: Partial<Incoming>;
}

const BODY = { model: "v/m", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };
export const PRIMARY = endpoint("primary");
/** 200 nano-USD a token in, 800 out. */
export const SHADOW = endpoint("shadow", { input: 200, output: 800 });

/** 10 tokens in, 5 out: 6 micro-USD at the shadow's prices. */
export const ANSWER = JSON.stringify({
  id: "x",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "length" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
export const ANSWER_MICRO_USD = 6;

export const STREAM = [
  { choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
].map(
  (event) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", ...event })}\n\n`,
);

/** What a call came to that was answered in full for 3 micro-USD. */
export const ENDED: PrimaryEnding = {
  status: "ok",
  stopReason: "stop",
  metered: {
    usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    source: "provider",
    cost: { total_micro_usd: 3, lines: [], price_version: "pv_1" },
  },
};

/** The next turn of the event loop, in which a copy is sent. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function bench() {
  const temp = tempStore();
  const { store } = temp;
  const clock = new ManualClock("2026-03-01T00:00:00Z");
  const credits = openCredits({ store, clock });
  const usedUp: unknown[] = [];
  const budgets = openBudgets({ store, clock, onBudgetExceeded: (event) => usedUp.push(event) });
  const sent: Sent[] = [];
  const rows: ShadowRow[] = [];
  const faults: unknown[] = [];
  let orgs = 0;

  const deps = {
    clock,
    purse: credits.purse,
    store,
    timers: systemTimers,
    budgets,
    limits: openLimits({ clock }),
    byokFee: { bps: 500, microUsdPerRequest: 0 },
    defaultMaxTokens: 50,
    maxShadows: 4,
    platformShadows: true,
    isAwaited: () => false,
    upstreams: {
      proxiesOf: () => [],
      call(request: UpstreamRequest, handler: UpstreamHandler) {
        const one: Sent = { request, handler, cancelled: false };
        sent.push(one);
        const cancel = () => {
          one.cancelled = true;
        };
        return { cancel, pause() {}, resume() {} };
      },
    },
    bodies: {
      write: ((_format, { passage }, request, at) =>
        passage.write(request, at)) as ShadowDeps["bodies"]["write"],
    },
    bounds: { maxEventBytes: 1 << 20, maxReplyBytes: 1 << 26, maxPayloadBytes: 1 << 16, extendTokens: 50 },
    timeouts: { firstByteMs: 300_000, stallMs: 30_000, totalMs: 900_000, drainMs: 1, keepAliveMs: 10_000 },
    shadowRuns: {
      prepare: (row: ShadowRow) => () => {
        rows.push(row);
        store.ifDropped(() => rows.pop());
      },
    },
    onFault: (error: unknown) => faults.push(error),
  } as unknown as ShadowDeps;

  return {
    clock,
    credits,
    budgets,
    usedUp,
    sent,
    rows,
    faults,
    deps,
    /** Nothing is known of any endpoint yet. */
    open(change: Partial<ShadowDeps> = {}): Shadows & { readonly health: Health } {
      const health = new Health(clock);
      return Object.assign(openShadows({ ...deps, health, ...change }), { health });
    },
    /** An org of its own with so much credit. */
    async org(creditMicroUsd: number): Promise<string> {
      const orgId = `org_${++orgs}`;
      const grant = { kind: "grant", refType: "test", refId: orgId, amountMicroUsd: creditMicroUsd } as const;
      if (creditMicroUsd > 0) await credits.post(orgId, grant);
      return orgId;
    },
    /** A call whose own first attempt has begun. */
    begun({ bill = "platform", body, key, incoming }: Given = {}): ReservedCall {
      const bytes = Buffer.from(JSON.stringify({ ...BODY, ...body }));
      const request = chatFormat.read(bytes);
      const call = new Call({
        requestId: "01J00000000000000000000000",
        tsMs: clock.now(),
        startMs: clock.monotonic(),
        format: chatFormat,
        body: bytes,
        passing: { "x-of-the-client": "1" },
        idempotencyKey: "once",
        key: {
          orgId: "org_none",
          keyId: "key",
          projectId: "prj",
          environment: "live",
          limits: {},
          onDisconnect: "drain",
          dataPolicy: { zdr: false },
          ...key,
        },
        ...incoming,
      } as unknown as Incoming);
      const decision = {
        ...DEFAULT_DECISION,
        policy: { name: "house", version: 3 },
        shadow: { endpoint: SHADOW.id, percent: 100, bill },
      };
      const plan = { attempts: [PRIMARY], shadow: SHADOW, decision };
      call.request = request;
      call.endpoint = PRIMARY;
      call.upstreamTtftMs = 40;
      const ours = model(PRIMARY, SHADOW);
      return Object.assign(call, { model: ours, plan, reservation: {} }) as unknown as ReservedCall;
    },
    dispose: () => temp.dispose(),
  };
}

export const answerWhole = ({ handler }: Sent, body = ANSWER, status = 200): void => {
  handler.onHead(status, { "content-type": "application/json" });
  giveData(handler, body);
  handler.onEnd();
};

/** The stream's events from one to another; the reader works on them in a microtask. */
export async function answerStream({ handler }: Sent, from = 0, to = STREAM.length): Promise<void> {
  if (from === 0) handler.onHead(200, { "content-type": "text/event-stream" });
  for (const event of STREAM.slice(from, to)) giveData(handler, event);
  if (to === STREAM.length) giveData(handler, "data: [DONE]\n\n");
  await Promise.resolve();
}
