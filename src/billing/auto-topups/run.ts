/**
 * Carries out an org's automatic top-up, one step a run, so that a crash leaves it where it stood: ordered, prepared, asked for. The
 * payment gateway's id of the prepared debit is stored before it is asked to take money, and only that one is ever confirmed. After an
 * unclear answer the debit is read; it is given up only where a reading shows nothing and no request can have an effect any more.
 */

import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { JobEnding, JobHandler } from "../../store/jobs/job.ts";
import type { MandateRow } from "../mandates/mandate.ts";
import { type Failure, GatewayError, mustBeOpen, type PaymentGateway } from "../payments/gateway.ts";
import { debitTime, isFinal } from "../topups/debit-times.ts";
import { verdictOf } from "../topups/settlement.ts";
import { isPaid, type TopupRow } from "../topups/topup.ts";
import { lookAt, type TopupWatchDeps } from "../topups/watch.ts";
import { type AutoTopupRow, type Debit, withoutFuture } from "./auto-topup.ts";
import { concludeFailed, concludePaid, type OutcomeDeps, optedOut } from "./outcome.ts";
import { drop, isStillWanted, plan } from "./plan.ts";

/**
 * How long one idempotency key is used, and how long after the last request an effect may still come: payment gateways repeat a stored
 * failure to a key, and end requests that hang.
 */
const KEY_MS = 15 * MINUTE_MS;

export type AutoTopupRunDeps = OutcomeDeps & TopupWatchDeps;

/** A debit with its rows, as they were when the run began. */
interface Task {
  readonly debit: Debit;
  readonly topup: TopupRow;
  readonly mandate: MandateRow;
  readonly gateway: PaymentGateway;
  readonly signal: AbortSignal;
}

export const autoTopper = (deps: AutoTopupRunDeps): JobHandler<{ orgId: string }> => ({
  async run({ orgId }, { signal }): Promise<JobEnding | undefined> {
    const row = await mendedRow(deps, orgId);
    if (row.debit === null || row.debit.phase === "announced") {
      const againAtMs = await deps.store.act(() => plan(deps, orgId));
      return againAtMs === undefined ? undefined : { againAtMs };
    }
    const task = taskOf(deps, row, row.debit, signal);
    // The listener of paid top-ups ends it; this is for rows that it has not seen.
    if (isPaid(task.topup)) return ending(deps, () => drop(deps, orgId, task.topup.id));
    if (row.debit.phase === "ordered") return await prepare(deps, task);
    return row.debit.phase === "prepared" ? await begin(deps, task) : await look(deps, task);
  },
  /** The sweep looks again. A debit that the payment gateway was asked for stays: it may have been made. */
  gaveUp({ orgId }) {
    const { debit } = deps.autoTopups.of(orgId);
    if (debit?.phase === "ordered" || debit?.phase === "prepared")
      drop(deps, orgId, debit.topupId, deps.clock.now() + HOUR_MS);
  },
});

/** @returns the org's row, rid of times of a clock that was ahead */
async function mendedRow(deps: AutoTopupRunDeps, orgId: string): Promise<AutoTopupRow> {
  const nowMs = deps.clock.now();
  const row = deps.autoTopups.of(orgId);
  if (withoutFuture(row, nowMs) === row) return row;
  return await deps.store.act(() => {
    const mended = withoutFuture(deps.autoTopups.of(orgId), nowMs);
    deps.autoTopups.put(mended);
    return mended;
  });
}

function taskOf(deps: AutoTopupRunDeps, { orgId }: AutoTopupRow, debit: Debit, signal: AbortSignal): Task {
  const topup = deps.topups.get(orgId, debit.topupId);
  const mandate = deps.mandates.get(orgId, debit.mandateId);
  if (topup === undefined || mandate === undefined) throw new Error("a debit lacks its top-up or mandate");
  return { debit, topup, mandate, gateway: mustBeOpen(deps, mandate.gateway), signal };
}

/** Ends the run, and looks again at once: the next step is decided by what is stored. */
const ending = ({ clock }: Pick<AutoTopupRunDeps, "clock">, act: () => void, inMs = 0): JobEnding => ({
  act,
  againAtMs: clock.now() + inMs,
});

/** Changes the debit where it is still the same, in the same phase. */
function change(deps: AutoTopupRunDeps, { debit, topup }: Task, changes: Partial<Debit>): boolean {
  const row = deps.autoTopups.of(topup.orgId);
  if (row.debit?.topupId !== debit.topupId || row.debit.phase !== debit.phase) return false;
  deps.autoTopups.put({ ...row, debit: { ...row.debit, ...changes } });
  return true;
}

const orderOf = (deps: AutoTopupRunDeps, { topup, mandate }: Task) => {
  const org = deps.accounts.org(topup.orgId);
  const { currency, totalMinor: minor, recipient } = topup.quote;
  return {
    reference: topup.id,
    payer: { orgId: topup.orgId, name: recipient.legalName, email: org?.billingEmail ?? "" },
    mandate: { ref: mandate.ref, tokenRef: mandate.tokenRef, method: mandate.method },
    total: { currency, minor },
    description: `Credit for ${org?.name ?? topup.orgId}`,
  };
};

/** No money moves, so a preparation whose answer was lost may be made again, and be left unused. */
async function prepare(deps: AutoTopupRunDeps, task: Task): Promise<JobEnding> {
  const { debit, topup, gateway, signal } = task;
  const { orgId, id } = topup;
  const nowMs = deps.clock.now();
  if (!isStillWanted(deps, deps.autoTopups.of(orgId))) return ending(deps, () => drop(deps, orgId, id));
  try {
    const call = { idempotencyKey: `${id}_p${debit.attempt}`, signal };
    const gatewayRef = await gateway.prepareDebit(orderOf(deps, task), call);
    return ending(deps, () => {
      if (!change(deps, task, { phase: "prepared", attempt: 1, keyFromMs: deps.clock.now() })) return;
      deps.topups.put({ ...deps.topups.mustGet(orgId, id), gatewayRef });
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.kind === "declined")
      return ending(deps, () => concludeFailed(deps, id, failureOf(error)), 1000);
    if (error.kind === "busy") return waiting(deps, error);
    if (nowMs >= debit.keyFromMs + KEY_MS)
      await deps.store.act(() => change(deps, task, { attempt: debit.attempt + 1, keyFromMs: nowMs }));
    throw error;
  }
}

const waiting = ({ clock }: AutoTopupRunDeps, { retryAfterMs }: GatewayError): JobEnding => ({
  againAtMs: clock.now() + (retryAfterMs ?? MINUTE_MS),
});

const failureOf = ({ failure, message }: GatewayError): Failure =>
  failure ?? { code: "declined", message, kind: "soft" };

/** The last moment at which a debit is dropped for certain. */
async function begin(deps: AutoTopupRunDeps, task: Task): Promise<JobEnding> {
  const { orgId, id, quote } = task.topup;
  const nowMs = deps.clock.now();
  // The preparation may have lasted into hours in which it is not executed.
  const timeMs = debitTime(task.mandate.method, nowMs);
  if (timeMs > nowMs && isStillWanted(deps, deps.autoTopups.of(orgId))) return { againAtMs: timeMs };
  const isBegun = await deps.store.act(() => {
    const row = deps.autoTopups.of(orgId);
    if (row.debit?.topupId !== id || row.debit.phase !== "prepared") return false;
    if (!isStillWanted(deps, row)) {
      drop(deps, orgId, id);
      return false;
    }
    const debit: Debit = {
      ...row.debit,
      phase: "confirming",
      attempt: 1,
      keyFromMs: nowMs,
      askedAtMs: nowMs,
    };
    const recent = [...row.recent, { topupId: id, atMs: nowMs, minor: quote.totalMinor }];
    deps.autoTopups.put({ ...row, debit, recent });
    return true;
  });
  if (!isBegun) return { againAtMs: nowMs };
  return await confirm(deps, { ...task, debit: { ...task.debit, phase: "confirming", attempt: 1 } });
}

/** Takes the money, once for what was prepared, however often it is asked. */
async function confirm(deps: AutoTopupRunDeps, task: Task): Promise<JobEnding> {
  const { debit, topup, mandate, gateway, signal } = task;
  try {
    const call = { idempotencyKey: `${topup.id}_c${debit.attempt}`, signal };
    await gateway.confirmDebit(topup.gatewayRef, orderOf(deps, task), call);
    return { againAtMs: deps.clock.now() };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.kind === "busy") return waiting(deps, error);
    if (error.kind !== "declined") throw error;
    const declined = failureOf(error);
    if (declined.kind === "opt_out") return ending(deps, () => optedOut(deps, topup.id), 1000);
    if (isFinal(mandate.method, declined.kind, topup.createdAtMs, deps.clock.now()))
      return ending(deps, () => concludeFailed(deps, topup.id, declined), 1000);
    return ending(deps, () => void change(deps, task, { declined }), HOUR_MS);
  }
}

/** The payment gateway was asked for the money, perhaps: reads what became of it. */
async function look(deps: AutoTopupRunDeps, task: Task): Promise<JobEnding> {
  const { debit, topup, signal } = task;
  const found = await lookAt(deps, topup, signal);
  if (found === undefined) throw new Error("a debit that is asked for lacks the payment gateway's id");
  const { checkout } = found;
  const verdict = verdictOf(checkout);
  if (verdict === "paid") return ending(deps, () => concludePaid(deps, topup.id, checkout), 1000);
  if (verdict === "under_way") return { againAtMs: againAt(debit, deps.clock.now()) };
  if (verdict === "expired") return ending(deps, () => optedOut(deps, topup.id), 1000);
  if (verdict === "open") return await withoutEffect(deps, task);
  const failure = checkout.payments.at(-1)?.failure ?? { code: "", message: "", kind: "soft" };
  return ending(deps, () => concludeFailed(deps, topup.id, failure), 1000);
}

/** The reading shows no effect. */
async function withoutEffect(deps: AutoTopupRunDeps, task: Task): Promise<JobEnding> {
  const { debit, topup, mandate } = task;
  const { orgId, id } = topup;
  const nowMs = deps.clock.now();
  if (debit.declined !== null) {
    const { declined } = debit;
    if (isFinal(mandate.method, declined.kind, topup.createdAtMs, nowMs))
      return ending(deps, () => concludeFailed(deps, id, declined), 1000);
    return { againAtMs: againAt(debit, nowMs) };
  }
  if (!isStillWanted(deps, deps.autoTopups.of(orgId))) {
    // The last request may still have its effect.
    const untilMs = debit.askedAtMs + KEY_MS;
    return nowMs < untilMs ? { againAtMs: untilMs } : ending(deps, () => drop(deps, orgId, id));
  }
  const timeMs = debitTime(mandate.method, nowMs);
  if (timeMs > nowMs) return { againAtMs: timeMs };
  const isOld = nowMs >= debit.keyFromMs + KEY_MS;
  const key = isOld ? { attempt: debit.attempt + 1, keyFromMs: nowMs } : {};
  const isSame = await deps.store.act(() => {
    const isChanged = change(deps, task, { ...key, askedAtMs: nowMs });
    if (isChanged) countFrom(deps, orgId, id, nowMs);
    return isChanged;
  });
  if (!isSame) return { againAtMs: nowMs };
  return await confirm(deps, { ...task, debit: { ...debit, ...key } });
}

/** Only in an act: the requests before had no effect, so the ceilings of a day count it from now. */
function countFrom({ autoTopups }: AutoTopupRunDeps, orgId: string, topupId: string, nowMs: number): void {
  const row = autoTopups.of(orgId);
  const recent = row.recent.map((one) => (one.topupId === topupId ? { ...one, atMs: nowMs } : one));
  autoTopups.put({ ...row, recent });
}

/** Soon at first; rarely for a bank. */
function againAt({ askedAtMs }: Debit, nowMs: number): number {
  const ageMs = nowMs - askedAtMs;
  if (ageMs < 10 * MINUTE_MS) return nowMs + MINUTE_MS;
  return nowMs + (ageMs < 24 * HOUR_MS ? 15 * MINUTE_MS : HOUR_MS);
}
