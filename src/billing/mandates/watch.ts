/**
 * Looks after mandates at the payment gateway: reads one that is being registered until it is active or never will be, and one that
 * the bank pauses until it is resumed, and ends those that are cancelled. Webhooks and the return page only make it happen sooner.
 */

import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { JobEnding, JobHandler } from "../../store/jobs/job.ts";
import type { Store } from "../../store/store.ts";
import { type GatewayMandate, mustBeOpen, orMissing, type PaymentGateway } from "../payments/gateway.ts";
import type { NoticeEnding } from "../payments/inbound.ts";
import { type Looks, sharedLook } from "../payments/shared-look.ts";
import type { MandateRow } from "./mandate.ts";
import { endAtGateway, failMandate, followMandate, type MandateDeps, PAUSED_LOOK_MS } from "./moves.ts";

/** A bank may take days to register one; what takes longer is given up. */
const MOST_PENDING_MS = 7 * 24 * HOUR_MS;

export interface MandateWatchDeps extends MandateDeps {
  readonly store: Pick<Store, "act">;
  /** By mandate. */
  readonly mandateLooks: Looks<GatewayMandate>;
}

export const mandateWatcher = (deps: MandateWatchDeps): JobHandler<{ mandateId: string }> => ({
  async run({ mandateId }, { signal }): Promise<JobEnding | undefined> {
    const row = deps.mandates.find(mandateId);
    if (row?.status === "paused" && row.isPausedAtBank === true) return await lookAtPaused(deps, row, signal);
    if (row?.status !== "pending") return undefined;
    const nowMs = deps.clock.now();
    const ageMs = nowMs - row.createdAtMs;
    const reading =
      row.ref === "" ? undefined : await mustBeOpen(deps, row.gateway).readMandate(row.ref, { signal });
    const act = () => {
      if (reading !== undefined) followMandate(deps, mandateId, reading);
      if (ageMs > MOST_PENDING_MS) giveUp(deps, mandateId);
    };
    return { act, ...(stillPending(reading) && ageMs <= MOST_PENDING_MS && again(nowMs, ageMs)) };
  },
});

async function lookAtPaused(deps: MandateDeps, row: MandateRow, signal: AbortSignal): Promise<JobEnding> {
  const reading = await mustBeOpen(deps, row.gateway).readMandate(row.ref, { signal });
  const act = () => followMandate(deps, row.id, reading);
  return { act, ...(reading.state === "paused" && { againAtMs: deps.clock.now() + PAUSED_LOOK_MS }) };
}

const stillPending = (reading: GatewayMandate | undefined): boolean =>
  reading === undefined || reading.state === "pending" || reading.tokenRef === "";

/** Soon at first, for a payer who waits; rarely for a bank. */
const again = (nowMs: number, ageMs: number) => ({
  againAtMs: nowMs + (ageMs < 2 * MINUTE_MS ? 15_000 : ageMs < HOUR_MS ? MINUTE_MS : 30 * MINUTE_MS),
});

function giveUp(deps: MandateWatchDeps, mandateId: string): void {
  failMandate(deps, mandateId);
  const row = deps.mandates.find(mandateId);
  if (row?.status === "failed") endAtGateway(deps, row);
}

/**
 * Looks now, for a page that somebody waits for. Never rejects: the job looks again.
 * @returns what the payment gateway has; undefined where it said nothing
 */
export const lookAtMandate = (
  deps: MandateWatchDeps,
  row: MandateRow,
  withinMs: number,
): Promise<GatewayMandate | undefined> =>
  sharedLook(deps.mandateLooks, row.id, async () => {
    if (row.ref === "") return undefined;
    const signal = AbortSignal.timeout(withinMs);
    const reading = await mustBeOpen(deps, row.gateway).readMandate(row.ref, { signal });
    await deps.store.act(() => followMandate(deps, row.id, reading));
    return reading;
  });

/** For webhooks: a mandate changed. @throws GatewayError for another try */
export async function onMandate(
  deps: MandateDeps,
  gateway: PaymentGateway,
  ref: string,
  signal: AbortSignal,
): Promise<NoticeEnding | undefined> {
  const reading = await orMissing(gateway.readMandate(ref, { signal }));
  if (reading === undefined) return undefined;
  // The notice may come before the act that stores the registration's id.
  const row = deps.mandates.ofRef(gateway.id, ref) ?? deps.mandates.find(reading.reference);
  if (row?.gateway !== gateway.id) return undefined;
  return { act: () => followMandate(deps, row.id, reading), orgId: () => row.orgId };
}

/** A debit that the payment gateway was asked for ends first: without its mandate it might hang. */
export const mandateEnder = (deps: MandateDeps): JobHandler<{ mandateId: string }> => ({
  async run({ mandateId }, { signal, attempt }): Promise<JobEnding | undefined> {
    const row = deps.mandates.find(mandateId);
    if (row === undefined || row.ref === "") return undefined;
    if (deps.autoTopups.isAsked(row.orgId, mandateId))
      return { againAtMs: deps.clock.now() + 15 * MINUTE_MS };
    const gateway = mustBeOpen(deps, row.gateway);
    const reading = await orMissing(gateway.readMandate(row.ref, { signal }));
    if (reading === undefined || reading.state === "cancelled" || reading.state === "failed")
      return undefined;
    // Ending it twice is the same, so each try may have a key of its own.
    const call = { idempotencyKey: `end_${mandateId}_${attempt}`, signal };
    await gateway.cancelMandate({ ref: row.ref, tokenRef: reading.tokenRef }, call);
    return undefined;
  },
});
