/** Opens model calls: the exchange, whose steps get what they need by name, and the questions that are asked beside calls. */

import type { RunningCalls } from "../../analytics/live/running-call.ts";
import { type Clock, risingMicros, systemRandom, systemTimers } from "../../base/clock.ts";
import type { RoomMetrics } from "../../base/metrics/sources.ts";
import type { Budgets } from "../../credits/budgets/budgets.ts";
import type { KeptBytes } from "../../credits/kept/kept-bytes.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import type { Limits } from "../../credits/limits/limits.ts";
import type { OutboundRules } from "../../outbound/rules.ts";
import type { Outbound } from "../../outbound/send.ts";
import type { Health } from "../../routing/health/health.ts";
import type { Store } from "../../store/store.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { AttemptDeps } from "./attempts.ts";
import type { Bodies } from "./body/bodies.ts";
import type { Incoming } from "./call.ts";
import type { DetachedCalls } from "./detached/detached-calls.ts";
import { type Exchange, type ExchangeDeps, openExchange } from "./exchange.ts";
import { Latencies } from "./figures/latencies.ts";
import { callMetrics } from "./figures/metrics.ts";
import { type Inquiry, inquire } from "./inquiry/inquire.ts";
import type { Conversations } from "./kept/conversations/conversations.ts";
import type { IdempotentAnswers } from "./kept/idempotency.ts";
import type { StoredResponses } from "./kept/stored-responses.ts";
import { openKeyProbes } from "./key-probes/key-probes.ts";
import { runningOf, WatchedCalls, type WatchedCallsDeps } from "./live/watched-calls.ts";
import type { FetchDeps } from "./media/fetch-media.ts";
import type { PlanDeps } from "./plan.ts";
import type { ReserveDeps } from "./reserve.ts";
import { byokFeeOf, type CallSettings } from "./settings.ts";
import type { SettleDeps } from "./settle.ts";
import type { ShadowDeps } from "./shadow/shadow.ts";

export interface ModelCallPorts
  extends Pick<ExchangeDeps, "onFault" | "onUpstreamFailure" | "onEndpointMissed" | "hasRoomFor">,
    Pick<PlanDeps, "catalog" | "policies" | "ownKeys">,
    Pick<ReserveDeps, "keyring">,
    Pick<ShadowDeps, "shadowRuns">,
    Pick<SettleDeps, "outbox" | "onRecord" | "cell">,
    Pick<WatchedCallsDeps, "watch"> {
  readonly clock: Clock;
  readonly store: Store;
  readonly health: Health;
  readonly limits: Limits;
  readonly purse: Purse;
  readonly budgets: Budgets;
  readonly bodies: Bodies;
  readonly detached: DetachedCalls;
  readonly upstreams: Upstreams;
  readonly outbound: Pick<Outbound, "send">;
  /** What may be fetched from addresses in bodies. */
  readonly downloadRules: OutboundRules;
  readonly answers: IdempotentAnswers;
  readonly responses: StoredResponses;
  readonly conversations: Conversations;
  readonly kept: KeptBytes;
  readonly log: { warn(fields: object, message: string): void };
}

export interface ModelCalls {
  readonly exchange: Exchange;
  /** Answers a question about a call without making it. Never rejects. */
  inquire(inquiry: Inquiry, incoming: Incoming): Promise<void>;
  /** An org's calls that run now. */
  readonly running: RunningCalls;
  readonly metrics: RoomMetrics;
}

export function openModelCalls(settings: CallSettings, ports: ModelCallPorts): ModelCalls {
  const { limits: bounds, timeouts } = settings;
  const { clock, store, bodies, responses, limits, purse, budgets, health, kept, onFault } = ports;
  const { catalog, policies, ownKeys, detached } = ports;
  const byokFee = byokFeeOf(settings);
  const defaultMaxTokens = bounds.default_max_tokens;
  const holding = { clock, timers: systemTimers, limits, purse, budgets };
  const { upstreams, log } = ports;
  const attempt = { ...holding, health, bodies, upstreams, byokFee, onFault, ...attemptBounds(settings) };
  const planning = { catalog, policies, ownKeys, health, bodies, random: systemRandom };
  const latencies = new Latencies();
  const { conversations } = ports;
  const maxBodyBytes = bounds.max_body_bytes;
  const continuing = { bodies, responses, conversations, maxBodyBytes, isCall: true };
  const exchange = openExchange({
    clock,
    store,
    bodies,
    onFault,
    onUpstreamFailure: ports.onUpstreamFailure,
    onEndpointMissed: ports.onEndpointMissed,
    hasRoomFor: ports.hasRoomFor,
    watched: new WatchedCalls(ports),
    answers: ports.answers,
    detached,
    accept: { clock, store, limits, responses, detached },
    join: { calls: detached, clock, keepAliveMs: timeouts.keep_alive_ms, onFault },
    maxDrains: bounds.max_drains,
    commitMs: timeouts.commit_ms,
    continue: continuing,
    admit: { limits, defaultMaxTokens },
    plan: planning,
    fetch: {
      clock,
      bodies,
      timers: systemTimers,
      outbound: ports.outbound,
      rules: ports.downloadRules,
      bounds: fetchBounds(settings),
    },
    keepRoom: { kept, defaultMaxTokens, maxAnswerBytes: bounds.max_stored_answer_bytes },
    reserve: {
      purse,
      budgets,
      bodies,
      byokFee,
      defaultMaxTokens,
      keyring: ports.keyring,
      minFitTokens: bounds.min_fit_tokens,
    },
    holdQueue: {
      ...holding,
      maxWaiting: bounds.max_hold_waits,
      maxWaitingOfOrg: bounds.max_hold_waits_of_org,
      keepAliveMs: timeouts.keep_alive_ms,
    },
    attempt,
    shadow: {
      ...attempt,
      store,
      defaultMaxTokens,
      shadowRuns: ports.shadowRuns,
      maxShadows: bounds.max_shadows,
      platformShadows: bounds.platform_shadows,
    },
    settle: {
      clock,
      store,
      limits,
      purse,
      budgets,
      responses,
      kept,
      latencies,
      detached,
      byokFee,
      onFault,
      outbox: ports.outbox,
      onRecord: ports.onRecord,
      cell: ports.cell,
      settledAtUs: risingMicros(clock),
      maxPayloadBytes: bounds.max_payload_bytes,
    },
  });
  const asking = {
    ...planning,
    continue: { ...continuing, isCall: false },
    clock,
    limits,
    upstreams,
    byokFee,
    defaultMaxTokens,
    onFault,
  };
  const keyProbes = openKeyProbes({ clock, bodies, upstreams, health, log });
  return {
    exchange,
    inquire: (inquiry, incoming) => inquire(asking, inquiry, incoming),
    running: (orgId) => runningOf(orgId, exchange.running()),
    metrics: callMetrics({ exchange, latencies, detached, keyProbes: keyProbes.counts }),
  };
}

function attemptBounds({ limits, timeouts }: CallSettings): Pick<AttemptDeps, "bounds" | "timeouts"> {
  return {
    bounds: {
      maxEventBytes: limits.max_event_bytes,
      maxReplyBytes: limits.max_reply_bytes,
      maxPayloadBytes: limits.max_payload_bytes,
      extendTokens: limits.default_max_tokens,
    },
    timeouts: {
      firstByteMs: timeouts.first_byte_ms,
      stallMs: timeouts.stall_ms,
      totalMs: timeouts.total_ms,
      drainMs: timeouts.drain_ms,
      keepAliveMs: timeouts.keep_alive_ms,
    },
  };
}

function fetchBounds({ media_fetch: media }: CallSettings): FetchDeps["bounds"] {
  if (!media.enabled) return undefined;
  return {
    maxBytes: media.max_bytes,
    maxCallBytes: media.max_call_bytes,
    maxUnderWayBytes: media.max_under_way_bytes,
    timeoutMs: media.timeout_ms,
  };
}
