/**
 * Webhooks of payment gateways. What one of them signed is stored and answered with 200 only then; a job reads the object that
 * changed. An event that comes again is answered and does nothing. What nobody signed costs a digest and writes nothing.
 */

import { z } from "zod";
import { mustExist } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { raw } from "../../base/operation/answer.ts";
import type { Hook } from "../../base/operation/hook.ts";
import { DAY_MS } from "../../base/time.ts";
import { type JobEnding, type JobRun, jobKind } from "../../store/jobs/job.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import { type EventLogDeps, openEventLog } from "./event-log.ts";
import { GATEWAY_IDS, GatewayError, type GatewayId, type Notice, type PaymentGateway } from "./gateway.ts";

const MAX_BYTES = 256 * 1024;

export const readNotice = jobKind({
  name: "payments.read",
  payload: z.object({
    gatewayId: z.enum(GATEWAY_IDS),
    eventId: z.string(),
    kind: z.enum(["checkout", "payment", "refund", "dispute", "mandate"]),
    ref: z.string(),
    reference: z.string(),
  }),
  tries: 14,
  backoff: { firstMs: 2_000, mostMs: 3_600_000 },
  atOnce: 8,
  // One lane is one object: its events are read one after another.
  atOncePerLane: 1,
  leaseMs: 60_000,
});

export interface NoticeEnding extends JobEnding {
  /** In the act, after `act`: to which org the object belongs; undefined: to none here. */
  readonly orgId?: () => string | undefined;
}

/**
 * Reads the object again and moves what is ours. Called at least once for each event, in any order.
 * @throws anything, for another try later; GatewayError `busy` and `unclear` among them
 */
export type NoticeHandler = (
  gatewayId: GatewayId,
  notice: Notice,
  job: JobRun,
) => MaybePromise<NoticeEnding | undefined>;

const FIRST_WAIT_MS = 2_000;
const MOST_WAIT_MS = 3_600_000;
/** A payment gateway that is away so long is an operator's matter. */
const MOST_AWAY_MS = 7 * DAY_MS;

/**
 * When to read again what a payment gateway that is away, or does not say, could not tell: nobody else may ever tell of it, so this
 * takes none of the job's tries. The wait is as long as the notice is old.
 */
function whenBack(error: unknown, { createdAtMs, signal }: JobRun, nowMs: number): number | undefined {
  if (!(error instanceof GatewayError) || signal.aborted) return undefined;
  const ageMs = Math.max(0, nowMs - createdAtMs);
  if ((error.kind !== "busy" && error.kind !== "unclear") || ageMs > MOST_AWAY_MS) return undefined;
  const waitMs = Math.min(MOST_WAIT_MS, Math.max(FIRST_WAIT_MS, ageMs, error.retryAfterMs ?? 0));
  return nowMs + waitMs;
}

/** The act also notes whose the event is. */
function assigning({ act, orgId, ...rest }: NoticeEnding, assign: (orgId: string) => void): JobEnding {
  return {
    ...rest,
    act() {
      act?.();
      const owner = orgId?.();
      if (owner !== undefined) assign(owner);
    },
  };
}

export interface InboundDeps extends EventLogDeps {
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  /** Undefined: there is no such gateway here. */
  readonly gatewayOf: (id: string) => PaymentGateway | undefined;
}

export interface Inbound {
  /** `POST /webhooks/payments/{gateway}`. */
  readonly hook: Hook;
  /** Once, before jobs start. */
  onNotice(handler: NoticeHandler): void;
  /** Only in an act: removes what an org's payers told. @param most events at once @returns whether more are left */
  erase(orgId: string, most: number): boolean;
  close(): void;
}

export function openInbound(deps: InboundDeps): Inbound {
  const { store, clock, jobs, gatewayOf } = deps;
  /** [payment gateway, event id], kept for good where the signature carries no time: else the same bytes would be accepted again. */
  const ids = store.table<{ readonly receivedAtMs: number }>("payments.event_ids");
  const events = openEventLog(deps);

  /** In an act. */
  function take(gatewayId: GatewayId, notices: readonly Notice[], body: string, nowMs: number): void {
    for (const { eventId, subject } of notices) {
      if (subject.kind === "none") continue;
      const key = [gatewayId, eventId];
      if (ids.get(key) !== undefined || events.has(gatewayId, eventId)) continue;
      if (gatewayId === "razorpay") ids.put(key, { receivedAtMs: nowMs });
      events.put({ gatewayId, eventId, receivedAtMs: nowMs, subject, body });
      const { kind, ref, reference } = subject;
      jobs.enqueue(readNotice, {
        key: `${gatewayId}:${eventId}`,
        lane: `${gatewayId}:${ref}`,
        orgId: "",
        payload: { gatewayId, eventId, kind, ref, reference },
      });
    }
  }

  return {
    hook: {
      name: "receivePaymentEvent",
      summary: "Take a payment gateway's webhook, signed by it",
      path: "/webhooks/payments/{gateway}",
      params: z.object({
        gateway: z.string().describe("The payment gateway: `stripe`, `razorpay` or `simulated`."),
      }),
      group: "Credits",
      maxBytes: MAX_BYTES,
      async run(bytes, params, head) {
        const gateway = mustExist(gatewayOf(params.gateway ?? ""), "payment gateway here");
        const nowMs = clock.now();
        const notices = gateway.readWebhook(bytes, (name) => head.header(name), nowMs);
        const isOfInterest = notices.some(({ subject }) => subject.kind !== "none");
        if (isOfInterest) {
          const body = bytes.toString("utf8");
          await store.act(() => take(gateway.id, notices, body, nowMs));
        }
        return raw("application/json", '{"received":true}');
      },
    },
    onNotice(handler) {
      jobs.handle(readNotice, {
        async run({ gatewayId, eventId, ...subject }, job) {
          try {
            const ending = await handler(gatewayId, { eventId, subject }, job);
            return ending && assigning(ending, (orgId) => events.assign(gatewayId, eventId, orgId));
          } catch (error) {
            const againAtMs = whenBack(error, job, clock.now());
            if (againAtMs === undefined) throw error;
            return { againAtMs };
          }
        },
      });
    },
    erase: events.erase,
    close: () => events.close(),
  };
}
