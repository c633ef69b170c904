/**
 * Makes one delivery: signs the event, sends it, and says what becomes of delivery and endpoint. Any 2xx is a success; a
 * redirect is a failure like any other, because what it names was not checked and not signed for.
 */
import type { Clock, Random } from "../../base/clock.ts";
import { OutboundError } from "../../outbound/failure.ts";
import type { RulesOf } from "../../outbound/rules.ts";
import type { Outbound, OutboundAnswer } from "../../outbound/send.ts";
import { type EventRow, type Events, eventWire } from "../../store/events/events.ts";
import type { JobEnding, JobRun } from "../../store/jobs/job.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import {
  type Attempt,
  type DeliveryRow,
  deadlineMs,
  deliveryHeaders,
  ended,
  givenUp,
  isTriedAgain,
  postponed,
  shownFields,
  shownText,
  timestampOf,
  triedAgainAt,
} from "./delivery.ts";
import { type DeliveryPayload, type DeliveryQueue, deliver, deliverToTroubled } from "./delivery-queue.ts";
import type { EndpointRow } from "./endpoint.ts";
import type { EndpointEnds } from "./endpoint-ends.ts";
import { retryAfterMs, waitMs } from "./schedule.ts";
import { signatures } from "./signature.ts";
import type { SlotPool, Standings, Tried } from "./standings.ts";
import type { WebhookTables } from "./webhook-tables.ts";

/** After so long with nothing but failures an endpoint is disabled … */
const FAILING_MS = 5 * 86_400_000;
/** … if it was tried at least so often: without events nothing fails, and one failure a week proves nothing. */
const GAP_MS = 86_400_000;
/** The newest failure is noted that exactly. */
const NOTED_MS = 3_600_000;
/** There was no room for a try: it is made after so long, or up to twice that. */
const SOON_MS: Readonly<Record<SlotPool, number>> = { well: 100, troubled: 1_000 };
/** Waits after which what is spread is spread over no longer time: a minute and a half. */
const MOST_SPREAD = 4;
const GONE = 410;

export interface CourierDeps {
  readonly tables: WebhookTables;
  readonly queue: DeliveryQueue;
  readonly endpointEnds: EndpointEnds;
  readonly standings: Standings;
  readonly events: Pick<Events, "get">;
  readonly jobs: Pick<Jobs, "handle">;
  readonly outbound: Pick<Outbound, "send">;
  /** What an org's URLs may reach. */
  readonly rulesOf: RulesOf;
  /** The secrets that sign now, in clear, the newest first; none where they cannot be read. */
  readonly secretsOf: (endpoint: EndpointRow, nowMs: number) => string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
  /** A try was made, or spared because the endpoint is left alone. */
  readonly onTry: (outcome: "good" | "bad" | "spared") => void;
}

/** What a try found, and what it means for the endpoint: how long it took also where the attempt does not show it. */
interface Finding extends Tried {
  readonly attempt: Attempt;
}

export class Courier {
  readonly #deps: CourierDeps;

  constructor(deps: CourierDeps) {
    this.#deps = deps;
    for (const kind of [deliver, deliverToTroubled]) {
      deps.jobs.handle(kind, {
        run: (payload, job) => this.#run(payload, job, kind === deliver ? "well" : "troubled"),
        gaveUp: ({ endpointId }, { key }) => {
          const row = deps.tables.delivery(endpointId, key);
          if (row?.status === "pending") deps.queue.end(givenUp(row, "The gateway could not send it."));
        },
      });
    }
  }

  async #run({ endpointId }: DeliveryPayload, job: JobRun, pool: SlotPool): Promise<JobEnding | undefined> {
    const { tables, queue, standings, clock, events, onTry } = this.#deps;
    const row = tables.delivery(endpointId, job.key);
    if (row === undefined || row.status !== "pending") return undefined;
    const endpoint = tables.endpoint(row.orgId, endpointId);
    if (endpoint?.status !== "active") return this.#givesUp(row, "The webhook was disabled.");
    const event = events.get(row.orgId, row.eventId);
    if (event === undefined) return this.#givesUp(row, "The event is no longer kept.");
    const nowMs = clock.now();
    if (pool === "well" && standings.isTroubled(endpointId)) {
      return { act: () => queue.enqueue(row, nowMs, deliverToTroubled) };
    }
    if (standings.isCrowded(pool, row.orgId)) return { againAtMs: this.#soonMs(nowMs, pool) };
    const restsUntilMs = row.isAsked ? 0 : standings.restsUntilMs(endpointId, nowMs);
    if (restsUntilMs > 0) {
      onTry("spared");
      return this.#postpones(row, restsUntilMs, nowMs);
    }
    return await this.#try(row, endpoint, event, pool);
  }

  #givesUp(row: DeliveryRow, why: string): JobEnding {
    return { act: () => this.#putIfPending(row, (now) => this.#deps.queue.end(givenUp(now, why))) };
  }

  /** As if it had failed again: so a delivery costs the same few jobs whether its endpoint is tried or left alone. */
  #postpones(row: DeliveryRow, restsUntilMs: number, nowMs: number): JobEnding {
    if (!isTriedAgain(row, nowMs)) return this.#givesUp(row, "The webhook did not answer other deliveries.");
    const { tables, random } = this.#deps;
    // Spread: very many may wait for the same moment, and only one of them will be the next try.
    const spreadMs = random() * waitMs(Math.min(row.waits, MOST_SPREAD), random);
    const againAtMs = this.#nextMs(row, nowMs, restsUntilMs + spreadMs);
    return {
      act: () => this.#putIfPending(row, (now) => tables.putDelivery(postponed(now, againAtMs))),
      againAtMs,
    };
  }

  async #try(row: DeliveryRow, endpoint: EndpointRow, event: EventRow, pool: SlotPool): Promise<JobEnding> {
    const { clock, standings, onTry } = this.#deps;
    const end = standings.begin(pool, row.orgId, endpoint.id);
    const startMs = clock.monotonic();
    let finding: Finding | undefined;
    try {
      finding = await this.#send(endpoint, event, startMs);
    } finally {
      end(finding, clock.now());
    }
    const nowMs = clock.now();
    if (finding === undefined) return { againAtMs: this.#soonMs(nowMs, "troubled") };
    onTry(finding.isGood ? "good" : "bad");
    if (finding.isGood || !isTriedAgain(row, nowMs) || finding.attempt.httpStatus === GONE) {
      return { act: () => this.#note(row, finding) };
    }
    const againAtMs = this.#nextMs(row, nowMs, nowMs + finding.retryAfterMs);
    return { act: () => this.#note(row, finding, againAtMs), againAtMs };
  }

  /** @returns undefined where the gateway had no room for the call */
  async #send(endpoint: EndpointRow, event: EventRow, startMs: number): Promise<Finding | undefined> {
    const { clock, outbound, rulesOf, secretsOf, userAgent } = this.#deps;
    const atMs = clock.now();
    let signature: string | undefined;
    const failed = (error: string, isShown = true): Finding => {
      const elapsedMs = Math.round(clock.monotonic() - startMs);
      const durationMs = isShown ? elapsedMs : 0;
      const attempt = {
        atMs,
        httpStatus: 0,
        response: "",
        error,
        durationMs,
        ...(signature && { signature }),
      };
      return { attempt, elapsedMs, isGood: false, retryAfterMs: 0 };
    };
    const secrets = secretsOf(endpoint, atMs);
    if (secrets.length === 0) return failed("The webhook's secret cannot be read; rotate it.");
    const body = eventBody(event);
    signature = signatures(secrets, { id: event.id, timestampS: timestampOf(atMs), body });
    const headers = {
      ...deliveryHeaders(event.id, atMs),
      "webhook-signature": signature,
      "user-agent": userAgent,
    };
    try {
      const { orgId, url } = endpoint;
      const request = { rules: rulesOf(orgId), url, method: "POST", headers, body, repeatable: true };
      return findingOf(await outbound.send(request), signature, atMs, clock.now());
    } catch (error) {
      if (!(error instanceof OutboundError) || error.kind === "closed") throw error;
      return error.kind === "busy" ? undefined : failed(error.shownMessage, error.isShown);
    }
  }

  /** In the act that ends the try. @param againAtMs when there is another one */
  #note(row: DeliveryRow, { attempt, isGood }: Finding, againAtMs?: number): void {
    const { tables, queue, endpointEnds } = this.#deps;
    const endpoint = tables.endpoint(row.orgId, row.endpointId);
    this.#putIfPending(row, (now) => {
      if (isGood) queue.end(ended(now, attempt, "delivered"));
      // Where the endpoint was disabled meanwhile, its job finds nothing to do.
      else if (againAtMs === undefined || endpoint?.status !== "active")
        queue.end(ended(now, attempt, "failed"));
      else tables.putDelivery(triedAgainAt(now, attempt, againAtMs));
    });
    if (endpoint === undefined) return;
    if (isGood) {
      tables.putHealthy(row.endpointId);
      return;
    }
    const isDead = this.#isDead(row.endpointId, attempt.atMs);
    if (endpoint.status !== "active") return;
    if (attempt.httpStatus === GONE) endpointEnds.disableForFailures(endpoint, "gone");
    else if (isDead) endpointEnds.disableForFailures(endpoint, "failing");
  }

  /** In an act: notes a failure. @returns whether the endpoint has had nothing else for five days */
  #isDead(endpointId: string, nowMs: number): boolean {
    const { tables } = this.#deps;
    const state = tables.state(endpointId);
    const sinceMs =
      state.failingSinceMs > 0 && nowMs - state.failedAtMs <= GAP_MS + NOTED_MS
        ? state.failingSinceMs
        : nowMs;
    if (sinceMs !== state.failingSinceMs || nowMs - state.failedAtMs >= NOTED_MS) {
      tables.putState(endpointId, { ...state, failingSinceMs: sinceMs, failedAtMs: nowMs });
    }
    return nowMs - sinceMs >= FAILING_MS;
  }

  /** In an act. The delivery may be gone, with its endpoint, or ended. */
  #putIfPending({ endpointId, id }: DeliveryRow, put: (now: DeliveryRow) => void): void {
    const now = this.#deps.tables.delivery(endpointId, id);
    if (now?.status === "pending") put(now);
  }

  /** @param notBeforeMs such as what the receiver asked for; never later than the last try */
  #nextMs(row: DeliveryRow, nowMs: number, notBeforeMs: number): number {
    const plannedMs = nowMs + waitMs(row.waits, this.#deps.random);
    return Math.min(deadlineMs(row), Math.max(plannedMs, Math.ceil(notBeforeMs)));
  }

  /** The well end soon. */
  #soonMs(nowMs: number, pool: SlotPool): number {
    return nowMs + Math.round(SOON_MS[pool] * (1 + this.#deps.random()));
  }
}

/** The bytes that are sent: the event as `GET /v1/events` shows it. */
export const eventBody = (event: EventRow): Buffer => Buffer.from(JSON.stringify(eventWire(event)));

function findingOf(
  { status, headers, fields, body, durationMs, isShown }: OutboundAnswer,
  signature: string,
  atMs: number,
  nowMs: number,
): Finding {
  const isGood = status >= 200 && status < 300;
  const isRedirect = status >= 300 && status < 400;
  const elapsedMs = Math.round(durationMs);
  const error = isGood ? "" : `HTTP ${status}${isRedirect ? ": redirects are not followed" : ""}.`;
  return {
    attempt: {
      atMs,
      httpStatus: status,
      durationMs: elapsedMs,
      // The tenant may not read what an address answers that is not public, whoever allowed the call to it.
      response: isShown ? shownText(body) : "",
      ...(isShown && { responseHeaders: shownFields(fields) }),
      signature,
      error,
    },
    elapsedMs,
    isGood,
    retryAfterMs: isGood ? 0 : retryAfterMs(headers.retryAfter, nowMs),
  };
}
