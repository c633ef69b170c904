/** What each step of a model call needs, out of the rooms that are open. */
import { risingMicros, systemRandom, systemTimers } from "../../base/clock.ts";
import type { ByokFee } from "../../base/usage.ts";
import { type Exchange, type ExchangeDeps, openExchange } from "../../inference/exchange/exchange.ts";
import type { InquireDeps } from "../../inference/exchange/inquiry/inquire.ts";
import type { Config } from "../settings/config.ts";
import type { Rooms } from "./rooms.ts";

const byokFeeOf = ({ settings: { byok } }: Config): ByokFee => ({
  bps: byok.fee_bps,
  microUsdPerRequest: byok.fee_micro_per_request,
});

export function exchangeOf(
  config: Config,
  rooms: Rooms,
  host: Pick<ExchangeDeps, "onFault" | "onUpstreamFailure" | "onEndpointMissed" | "hasRoomFor"> &
    Pick<ExchangeDeps["settle"], "onRecord">,
): Exchange {
  const { limits: bounds, timeouts } = config.settings;
  const { clock, store, bodies, responses, limits, purse, budgets, health, catalog, policies, ownKeys } =
    rooms;
  const byokFee = byokFeeOf(config);
  const defaultMaxTokens = bounds.default_max_tokens;
  const attempt = attemptDeps(config, rooms, host.onFault);
  return openExchange({
    ...host,
    clock,
    store,
    bodies,
    answers: rooms.answers,
    maxDrains: bounds.max_drains,
    commitMs: timeouts.commit_ms,
    continue: { bodies, responses, maxBodyBytes: bounds.max_body_bytes },
    admit: { limits, defaultMaxTokens },
    plan: { catalog, policies, ownKeys, health, bodies, random: systemRandom },
    keepRoom: { kept: rooms.kept, defaultMaxTokens, maxAnswerBytes: bounds.max_stored_answer_bytes },
    reserve: {
      purse,
      budgets,
      bodies,
      byokFee,
      defaultMaxTokens,
      keyring: rooms.keyring,
      minFitTokens: bounds.min_fit_tokens,
    },
    holdQueue: holdQueueDeps(config, rooms),
    attempt,
    shadow: {
      ...attempt,
      budgets,
      store,
      defaultMaxTokens,
      shadowRuns: rooms.analytics.shadowRuns,
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
      kept: rooms.kept,
      outbox: rooms.outbox,
      latencies: rooms.latencies,
      byokFee,
      onFault: host.onFault,
      onRecord: host.onRecord,
      cell: rooms.cell?.name ?? config.cell,
      settledAtUs: risingMicros(clock),
      maxPayloadBytes: bounds.max_payload_bytes,
    },
  });
}

const holdQueueDeps = (
  { settings: { limits: bounds, timeouts } }: Config,
  { clock, limits, purse, budgets }: Rooms,
): ExchangeDeps["holdQueue"] => ({
  clock,
  timers: systemTimers,
  limits,
  purse,
  budgets,
  maxWaiting: bounds.max_hold_waits,
  maxWaitingOfOrg: bounds.max_hold_waits_of_org,
  keepAliveMs: timeouts.keep_alive_ms,
});

function attemptDeps(
  config: Config,
  { clock, limits, purse, budgets, health, bodies, upstreams }: Rooms,
  onFault: ExchangeDeps["onFault"],
): ExchangeDeps["attempt"] {
  const { limits: bounds, timeouts } = config.settings;
  return {
    clock,
    timers: systemTimers,
    limits,
    purse,
    budgets,
    health,
    bodies,
    upstreams,
    byokFee: byokFeeOf(config),
    onFault,
    bounds: {
      maxEventBytes: bounds.max_event_bytes,
      maxReplyBytes: bounds.max_reply_bytes,
      maxPayloadBytes: bounds.max_payload_bytes,
      extendTokens: bounds.default_max_tokens,
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

/** What the routes need that ask about a call without making it. */
export const inquiriesOf = (
  config: Config,
  { catalog, policies, ownKeys, health, bodies, limits, upstreams, clock }: Rooms,
  onFault: InquireDeps["onFault"],
): InquireDeps => ({
  catalog,
  policies,
  ownKeys,
  health,
  bodies,
  limits,
  upstreams,
  clock,
  onFault,
  random: systemRandom,
  defaultMaxTokens: config.settings.limits.default_max_tokens,
  byokFee: byokFeeOf(config),
});
