/**
 * One shadow run: sends a copy of a call to one more endpoint and compares both results. When call and copy have both ended,
 * the run is closed in one commit: the copy's charge if the org pays, and the row that compares them. So every charge has
 * its row, and a crash before the commit leaves neither. No public method throws.
 */
import type { ShadowRow } from "../../../analytics/outbox/shadow-rows.ts";
import type { ShadowRuns } from "../../../analytics/outbox/shadow-runs.ts";
import type { Endpoint } from "../../../base/endpoint.ts";
import { after, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { Budgets } from "../../../credits/budgets/budgets.ts";
import type { ErrorClass } from "../../../record/record.ts";
import type { Shadow } from "../../../routing/planner/decision.ts";
import type { Store } from "../../../store/store.ts";
import { type AttemptDeps, Attempts } from "../attempts.ts";
import type { PlannedCall, ReservedCall } from "../call.ts";
import type { Indexed } from "../live/live.ts";
import { type CoveredTokens, type Metered, meter } from "../meter.ts";
import type { Outcome } from "../outcome.ts";
import { type BoundDeps, worstCaseOf } from "../reservation/cost-bound.ts";
import { type HoldDeps, type Holds, releaseHolds, scopeOf, takeHolds } from "../reservation/holds.ts";
import { charge, factsOf } from "../settle.ts";
import { copyDeps, copyOf } from "./shadow-copy.ts";
import type { PrimaryEnding, ShadowRun } from "./shadow-ending.ts";

export interface RunDeps extends Omit<AttemptDeps, "beginDrain" | "endDrain" | "firstContent">, BoundDeps {
  readonly budgets: HoldDeps["budgets"] & Pick<Budgets, "wouldHold">;
  readonly store: Pick<Store, "act" | "healthy">;
  readonly shadowRuns: Pick<ShadowRuns, "prepare">;
}

/** The copy that a policy wants of one call. */
export interface ShadowTask {
  readonly original: ReservedCall;
  readonly endpoint: Endpoint;
  readonly bill: Shadow["bill"];
}

/** Called once per run when its copy has ended, or will not be sent, so that another copy may begin. */
export type OnOver = (run: Run, wasSent: boolean) => void;

/** A copy that takes longer is ended, even if calls may take longer. */
export const MAX_RUN_MS = 120_000;

/** The result of a copy. */
interface CopyResult {
  readonly call: ReservedCall;
  readonly status: ShadowRow["shadowStatus"];
  readonly errorClass: ErrorClass;
  readonly stopReason: string;
  readonly metered: Metered;
}

export class Run implements Indexed, ShadowRun {
  index = -1;
  readonly #deps: RunDeps;
  readonly #task: ShadowTask;
  readonly #onOver: OnOver;
  #startMs = 0;
  #attempts: Attempts | undefined;
  /** The holds if the org pays; undefined once the run is closed. */
  #holds: Holds | undefined;
  #isLate = false;
  #isOver = false;
  /** Set between the end of the copy and the end of the run. */
  #copyResult: CopyResult | undefined;
  #primary: PrimaryEnding | undefined;

  constructor(deps: RunDeps, task: ShadowTask, onOver: OnOver) {
    this.#deps = deps;
    this.#task = task;
    this.#onOver = onOver;
  }

  /** Sends the copy. */
  launch(): void {
    if (this.#isOver) return;
    try {
      const reserved = after(this.#reserve(), (call) => this.#send(call));
      if (reserved instanceof Promise) reserved.catch((error: unknown) => this.#abandon(error));
    } catch (error) {
      this.#abandon(error);
    }
  }

  #send(call: ReservedCall | undefined): void {
    if (call === undefined) {
      this.#finish(false);
      return;
    }
    if (this.#isOver) {
      // It was ended while its holds were requested.
      this.#release();
      return;
    }
    this.#startMs = call.incoming.startMs;
    const deps = copyDeps(this.#deps, () => this.stop());
    this.#attempts = new Attempts(deps, call, (outcome) => this.#ended(call, outcome));
    this.#attempts.run();
  }

  primaryEnded(ending: PrimaryEnding | undefined): void {
    if (this.#primary !== undefined) return;
    // Only these members: an ending refers to the whole answer, and the copy may take long.
    const { status, stopReason, metered } = ending ?? UNSETTLED;
    this.#primary = { status, stopReason, metered };
    if (status === "cancelled") this.stop();
    this.#close();
  }

  /** Checks the copy's deadlines, once a second. @param nowMs monotonic */
  tick(nowMs: number): void {
    if (this.#attempts === undefined || this.#isOver) return;
    this.#isLate = nowMs - this.#startMs >= MAX_RUN_MS;
    if (this.#isLate) {
      this.stop();
      return;
    }
    try {
      this.#attempts.tick(nowMs);
    } catch (error) {
      this.#abandon(error);
    }
  }

  /** Ends the copy now; this does not count against its endpoint. */
  stop(): void {
    if (this.#isOver) return;
    try {
      if (this.#attempts === undefined) this.#finish(false);
      else this.#attempts.shutDown();
    } catch (error) {
      this.#abandon(error);
    }
  }

  /** Reserves the copy's cost; undefined if the org cannot pay for the copy: its own calls come first. */
  #reserve(): MaybePromise<ReservedCall | undefined> {
    const { original, endpoint, bill } = this.#task;
    const isOrgBilled = bill === "org";
    const planned = copyOf(original, endpoint, isOrgBilled, this.#deps.clock);
    const { key } = planned;
    // The run's holds cover the longest answer, so the copy has none to extend.
    const reserved = planned.withReservation({ holds: undefined, ...coveredTokensOf(planned, endpoint) });
    if (!isOrgBilled || key.environment === "test") return reserved;
    // That of the longest answer, also for a stream.
    const microUsd = worstCaseOf(this.#deps, planned, { ...planned.request.facts, stream: false });
    // Checked first, because a refused hold is reported as an exhausted budget, which a copy without room is not.
    if (!this.#deps.budgets.wouldHold(scopeOf(key), microUsd)) return undefined;
    return after(takeHolds(this.#deps, key, microUsd), (holds) => {
      if ("refusedBy" in holds) return undefined;
      this.#holds = holds;
      return reserved;
    });
  }

  #ended(call: ReservedCall, outcome: Outcome): void {
    if (this.#isOver) return;
    try {
      this.#copyResult = this.#resultOf(call, outcome);
      this.#finish(this.#copyResult !== undefined);
      this.#close();
    } catch (error) {
      this.#abandon(error);
    }
  }

  /**
   * The copy's result; undefined if nothing was sent: the endpoint saturated after the plan was made, or the time was over.
   */
  #resultOf(call: ReservedCall, outcome: Outcome): CopyResult | undefined {
    // That the request cannot be written for the endpoint is a result too.
    if (call.attempts.length === 0 && outcome.kind !== "refused") return undefined;
    const facts = factsOf(outcome);
    const fee = call.lane?.key.isByok === true ? this.#deps.byokFee : undefined;
    // An estimate never exceeds the hold.
    const metered = meter(
      call.request.facts,
      call.endpoint,
      facts,
      coveredTokensOf(call, this.#task.endpoint),
      fee,
      call.sent,
    );
    const isSilent = this.#isLate && call.upstreamTtftMs === 0;
    return { call, ...statusOf(outcome, isSilent), stopReason: facts?.stopReason ?? "", metered };
  }

  /** Commits the charge and the row once call and copy have both ended. */
  #close(): void {
    const primary = this.#primary;
    const copyResult = this.#copyResult;
    if (primary === undefined || copyResult === undefined) return;
    this.#copyResult = undefined;
    const { call, metered } = copyResult;
    const holds = this.#holds;
    try {
      const row = rowOf(this.#task, primary, copyResult, holds !== undefined);
      const committed = charge(this.#deps, holds, call, metered, this.#deps.shadowRuns.prepare(row));
      this.#holds = undefined;
      committed.catch((error: unknown) => this.#fault(error));
    } catch (error) {
      this.#abandon(error);
    }
  }

  #finish(wasSent: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#copyResult === undefined) this.#release();
    this.#onOver(this, wasSent);
  }

  /** After a fault of the gateway: drops the copy and releases its holds. */
  #abandon(error: unknown): void {
    this.#fault(error);
    this.#copyResult = undefined;
    this.#release();
    this.#finish(false);
    try {
      this.#attempts?.shutDown();
    } catch {
      // The fault may have been in the attempts themselves.
    }
  }

  #release(): void {
    if (this.#holds !== undefined) releaseHolds(this.#deps, this.#holds);
    this.#holds = undefined;
  }

  /** Logs a fault with the id of the call, which the client has. */
  #fault(error: unknown): void {
    this.#deps.onFault(error, this.#task.original.requestId);
  }
}

/** The call's end is not known, so the copy is not compared with it. */
const UNSETTLED: PrimaryEnding = {
  status: "cancelled",
  stopReason: "",
  metered: meter(undefined, undefined, undefined),
};

/** The copy has the same prompt as its call, and no hold is below that prompt's estimate. */
const coveredTokensOf = ({ request: { facts }, plan }: PlannedCall, endpoint: Endpoint): CoveredTokens => ({
  inputTokens: Number.MAX_SAFE_INTEGER,
  outputTokens: (plan.limits?.get(endpoint.id) ?? facts.maxTokens ?? endpoint.maxOutput) * facts.choices,
});

/** @param isSilent it took too long and no content was received: calls would fail at such an endpoint too */
function statusOf(outcome: Outcome, isSilent: boolean): Pick<CopyResult, "status" | "errorClass"> {
  switch (outcome.kind) {
    case "whole":
    case "streamed":
      return { status: "ok", errorClass: "" };
    case "failed":
    case "broken":
      return { status: "error", errorClass: outcome.failure?.errorClass ?? "" };
    case "refused":
      return { status: "error", errorClass: "client" };
    default:
      return isSilent ? { status: "error", errorClass: "timeout" } : { status: "cancelled", errorClass: "" };
  }
}

function rowOf(
  task: ShadowTask,
  primary: PrimaryEnding,
  copyResult: CopyResult,
  isCharged: boolean,
): ShadowRow {
  const { original: call } = task;
  const { plan } = call;
  const copy = copyResult.call;
  return {
    orgId: call.key.orgId,
    tsMs: call.incoming.tsMs,
    requestId: call.requestId,
    shadowRequestId: copy.requestId,
    policy: plan.decision.policy?.name ?? "",
    policyVersion: plan.decision.policy?.version ?? 0,
    primaryEndpoint: call.endpoint?.id ?? "",
    shadowEndpoint: task.endpoint.id,
    bill: task.bill,
    charged: isCharged,
    primaryStatus: primary.status,
    shadowStatus: copyResult.status,
    shadowErrorClass: copyResult.errorClass,
    primaryCostMicroUsd: primary.metered.cost.total_micro_usd,
    shadowCostMicroUsd: copyResult.metered.cost.total_micro_usd,
    stream: copy.request.facts.stream,
    primaryTtftMs: call.upstreamTtftMs,
    shadowTtftMs: copy.upstreamTtftMs,
    primaryStopReason: primary.stopReason,
    shadowStopReason: copyResult.stopReason,
    primaryOutputTokens: primary.metered.usage.outputTokens,
    shadowOutputTokens: copyResult.metered.usage.outputTokens,
  };
}
