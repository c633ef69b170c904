/**
 * The moves of mandates. Each runs in an act that reads the rows again, and a move made twice is the same move; so what the payment
 * gateway says may come from its webhook, the return page and the watching job, in any order.
 */
import type { Clock } from "../../base/clock.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import type { GatewayId, GatewayMandate, PaymentGateway } from "../payments/gateway.ts";
import { isPossible } from "../state-moves.ts";
import { mandateActive, mandateCancelled, mandateFailed, mandatePaused } from "./events.ts";
import { endMandate, watchMandate } from "./jobs.ts";
import { type ConfigWire, MANDATE_MOVES, type MandateRow, mandateWire, type PauseReason } from "./mandate.ts";
import type { MandateTables } from "./tables.ts";

/** Between looks at a mandate that the bank pauses. */
export const PAUSED_LOOK_MS = 24 * 3_600_000;

/** Port: the automatic top-ups that mandates are debited for. They hear of a mandate that becomes active by its event. */
export interface DebitedTopups {
  /** An org's settings, as the API shows them. */
  configOf(orgId: string): ConfigWire;
  /** Whether the payment gateway was asked to debit a mandate, perhaps, and has not said how that ended. */
  isAsked(orgId: string, mandateId: string): boolean;
  /** Only in an act: none of an org is begun any more. */
  switchOff(orgId: string): void;
}

export interface MandateDeps {
  readonly clock: Clock;
  readonly mandates: MandateTables;
  readonly autoTopups: DebitedTopups;
  readonly events: Trail["events"];
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly gatewayOf: (id: GatewayId) => PaymentGateway | undefined;
}

/** As the API shows it, with the org's settings as they are now. */
export const shownMandate = ({ autoTopups }: Pick<MandateDeps, "autoTopups">, row: MandateRow) =>
  mandateWire(row, autoTopups.configOf(row.orgId));

/** Only in an act: makes ours agree with what the payment gateway has. */
export function followMandate(deps: MandateDeps, id: string, reading: GatewayMandate): void {
  const row = deps.mandates.find(id);
  // Another one's: a reference that the payment gateway does not know is empty.
  if (row === undefined || (reading.reference !== "" && reading.reference !== id)) return;
  const { state } = reading;
  if (state === "active" || state === "paused") registered(deps, row, reading);
  else if (state === "failed") failMandate(deps, id);
  else if (state === "cancelled") goneAtGateway(deps, row);
}

function registered(deps: MandateDeps, row: MandateRow, reading: GatewayMandate): void {
  if (row.status === "pending") activate(deps, row, reading);
  // The payer approved on a page that was given up.
  else if (row.status === "cancelled" || row.status === "failed") endAtGateway(deps, row);
  const now = deps.mandates.inForce(row.orgId);
  if (now?.id !== row.id) return;
  const isPausedAtBank = reading.state === "paused";
  if ((now.isPausedAtBank ?? false) !== isPausedAtBank) deps.mandates.put({ ...now, isPausedAtBank });
  if (isPausedAtBank) {
    pauseMandate(deps, row.orgId, "bank");
    watchLater(deps, now);
  } else if (now.pauseReason === "bank") resumeMandate(deps, row.orgId);
}

/** That the bank resumes it may be told to nobody. */
function watchLater({ clock, jobs }: MandateDeps, { id, orgId, gateway }: MandateRow): void {
  const dueMs = clock.now() + PAUSED_LOOK_MS;
  jobs.enqueue(watchMandate, { key: id, orgId, lane: gateway, dueMs, payload: { mandateId: id } });
}

/** What it can be debited of is not known at once with every payment gateway; then it stays pending. */
function activate(deps: MandateDeps, row: MandateRow, { ref, tokenRef, method, cap }: GatewayMandate): void {
  if (tokenRef === "") return;
  if (cap.currency !== row.currency) {
    failMandate(deps, row.id);
    return;
  }
  const former = deps.mandates.inForce(row.orgId);
  if (former !== undefined) cancelMandate(deps, former);
  const active: MandateRow = {
    ...row,
    status: "active",
    ref,
    tokenRef,
    method: method === "" ? row.method : method,
    capMinor: Math.min(row.capMinor, cap.minor),
    registeredAtMs: deps.clock.now(),
  };
  deps.mandates.put(active);
  deps.events.emit(mandateActive, row.orgId, shownMandate(deps, active));
}

/** Only in an act: it was not registered, or in time. */
export function failMandate(deps: MandateDeps, id: string): void {
  const row = deps.mandates.find(id);
  if (row === undefined || isPossible(MANDATE_MOVES.fail, row.status) !== "now") return;
  const failed: MandateRow = { ...row, status: "failed" };
  deps.mandates.put(failed);
  deps.events.emit(mandateFailed, row.orgId, shownMandate(deps, failed));
}

/** Only in an act. The first reason stays. */
export function pauseMandate(deps: MandateDeps, orgId: string, pauseReason: Exclude<PauseReason, "">): void {
  const row = deps.mandates.inForce(orgId);
  if (row === undefined || isPossible(MANDATE_MOVES.pause, row.status) !== "now") return;
  const paused: MandateRow = { ...row, status: "paused", pauseReason };
  deps.mandates.put(paused);
  deps.events.emit(mandatePaused, orgId, { ...shownMandate(deps, paused), reason: pauseReason });
}

/** Only in an act. One that the bank pauses stays so until the bank resumes it, whatever else paused it. */
export function resumeMandate(deps: MandateDeps, orgId: string): void {
  const row = deps.mandates.inForce(orgId);
  if (row === undefined || isPossible(MANDATE_MOVES.resume, row.status) !== "now") return;
  if (row.isPausedAtBank === true) {
    deps.mandates.put({ ...row, pauseReason: "bank", consecutiveFailures: 0 });
    return;
  }
  const active: MandateRow = { ...row, status: "active", pauseReason: "", consecutiveFailures: 0 };
  deps.mandates.put(active);
  deps.events.emit(mandateActive, orgId, shownMandate(deps, active));
}

/** Only in an act. @returns the row after it */
export function cancelMandate(deps: MandateDeps, row: MandateRow): MandateRow {
  if (isPossible(MANDATE_MOVES.cancel, row.status) !== "now") return row;
  const cancelled: MandateRow = { ...row, status: "cancelled", cancelledAtMs: deps.clock.now() };
  deps.mandates.put(cancelled);
  deps.events.emit(mandateCancelled, row.orgId, shownMandate(deps, cancelled));
  endAtGateway(deps, cancelled);
  return cancelled;
}

/** Only in an act: no debit is begun any more. One that the payment gateway was asked for goes on. */
export function cancelAll(deps: MandateDeps, orgId: string): void {
  deps.autoTopups.switchOff(orgId);
  for (const row of [deps.mandates.inForce(orgId), deps.mandates.pending(orgId)])
    if (row !== undefined) cancelMandate(deps, row);
}

function goneAtGateway(deps: MandateDeps, row: MandateRow): void {
  if (row.status === "pending") failMandate(deps, row.id);
  if (row.status !== "active" && row.status !== "paused") return;
  deps.autoTopups.switchOff(row.orgId);
  cancelMandate(deps, row);
}

/** Only in an act. */
export function endAtGateway({ jobs }: Pick<MandateDeps, "jobs">, { id, orgId, gateway, ref }: MandateRow) {
  if (ref !== "") jobs.enqueue(endMandate, { key: id, orgId, lane: gateway, payload: { mandateId: id } });
}
