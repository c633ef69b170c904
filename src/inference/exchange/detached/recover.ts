/**
 * After a start: the calls of a process that was killed. Each is charged for what its log holds, gets its record, and last events that
 * say so, its response in the background fails, and its Idempotency-Key stays used, in one act: a process that is killed meanwhile goes on with those that are left, and charges none twice.
 */
import type { Outbox } from "../../../analytics/outbox/outbox.ts";
import type { Clock } from "../../../base/clock.ts";
import type { CallRecord } from "../../../record/record.ts";
import type { Store } from "../../../store/store.ts";
import type { Charged } from "../../../wire/format.ts";
import { FORMATS } from "../../../wire/formats.ts";
import { BROKEN_OFF } from "../errors/broken-off.ts";
import type { IdempotentAnswers } from "../kept/idempotency.ts";
import type { StoredResponses } from "../kept/stored-responses.ts";
import { chargingFormer, type HoldDeps } from "../reservation/holds.ts";
import { brokenOffEvents, wholeBrokenOff } from "./broken-off.ts";
import type { Part } from "./event-log.ts";
import type { LogCipher } from "./log-cipher.ts";
import type { CallRow, LogRows, ProgressRow } from "./log-rows.ts";

export interface RecoverDeps {
  readonly store: Pick<Store, "act">;
  readonly clock: Pick<Clock, "now">;
  readonly outbox: Pick<Outbox, "prepare" | "put">;
  readonly answers: Pick<IdempotentAnswers, "putBrokenOff">;
  readonly responses: Pick<StoredResponses, "brokenOff">;
  readonly settledAtUs: () => number;
  readonly holding: HoldDeps;
}

/** Ended in one act. */
const CALLS_AT_ONCE = 100;

/** @returns number of calls that were ended */
export async function recoverLogs(
  deps: RecoverDeps,
  rows: LogRows,
  cipherOf: (callId: string) => LogCipher,
): Promise<number> {
  const broken = Array.from(rows.all()).filter(([, row]) => row.endedMs === undefined);
  for (let at = 0; at < broken.length; at += CALLS_AT_ONCE) {
    const ends = broken
      .slice(at, at + CALLS_AT_ONCE)
      .map(([id, row]) => ended(deps, { id, row, rows, cipher: cipherOf(id) }));
    try {
      await deps.store.act(
        () => {
          for (const { put } of ends) put();
        },
        { isOwed: true },
      );
    } catch (error) {
      for (const { giveUp } of ends) giveUp();
      throw error;
    }
  }
  return broken.length;
}

interface Broken {
  readonly id: string;
  readonly row: CallRow;
  readonly rows: LogRows;
  readonly cipher: LogCipher;
}

/** `put`: in an act, all of its end. `giveUp`: that act did not happen, and will not. */
interface BrokenEnd {
  put(): void;
  giveUp(): void;
}

function ended(deps: RecoverDeps, { id, row, rows, cipher }: Broken): BrokenEnd {
  const { clock, outbox, holding, answers } = deps;
  const progress: ProgressRow = rows.progressOf(id) ?? { end: 0 };
  const { record, scope, key, ...rest } = row;
  const { life, format } = row;
  const how = holding.purse.isRetired(life) ? "retired" : "charged";
  const nowMs = clock.now();
  const broken = record && brokenRecord(record, progress, { settledAtUs: deps.settledAtUs(), nowMs });
  const charged = how === "charged" && broken !== undefined ? chargedOf(broken) : undefined;
  const response = deps.responses.brokenOff(row, FORMATS[format].idPrefix + id, how, charged);
  const last: Part = row.isStream
    ? brokenOffEvents({ id, format }, progress.end, { how, response: response?.response })
    : { first: 0, end: 0, bytes: wholeBrokenOff({ id, format }, how).body };
  const sealed = cipher.seal(last.first, last.bytes);
  const kept: CallRow = {
    ...rest,
    endedMs: nowMs,
    end: last.end,
    isBrokenOff: true,
    ...(how === "retired" && { isUncharged: true }),
    ...(!row.isStream && { status: BROKEN_OFF[how].status }),
  };
  const costMicroUsd = progress.metered?.cost.total_micro_usd ?? 0;
  const amountMicroUsd = record?.charged === true ? costMicroUsd : 0;
  const prepared = broken && outbox.prepare(broken);
  const charge = { requestId: id, amountMicroUsd, atMs: nowMs };
  const charging = scope && amountMicroUsd > 0 ? chargingFormer(holding, { scope, life, charge }) : undefined;
  return {
    put() {
      charging?.charge();
      // As of a call that was cancelled: who repeats it would be charged again. One that cost nothing may be repeated.
      if (key !== undefined && costMicroUsd > 0) answers.putBrokenOff(key, row, id);
      if (prepared !== undefined) outbox.put(prepared);
      response?.put();
      rows.putPart(id, last.first, sealed);
      rows.putEnded(id, kept);
    },
    giveUp: () => charging?.giveUp(),
  };
}

/** What the response tells of its charge, as it does where a call fails by itself. */
const chargedOf = ({ requestId, provider, endpointId, usage, cost }: CallRecord): Charged => ({
  usage,
  svc: { request_id: requestId, provider, endpoint_id: endpointId, cost, warnings: [] },
});

function brokenRecord(
  record: CallRecord,
  { metered, by }: ProgressRow,
  { settledAtUs, nowMs }: { readonly settledAtUs: number; readonly nowMs: number },
): CallRecord {
  const durationMs = Math.max(record.durationMs, nowMs - record.tsMs);
  const told = { ...record, ...by, settledAtUs, durationMs };
  if (metered === undefined) return told;
  return { ...told, usage: metered.usage, usageSource: metered.source, cost: metered.cost };
}
