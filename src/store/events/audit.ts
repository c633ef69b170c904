/**
 * Who changed what: one row for each act that changes something, put in that act. An org reads its own; acts of the operator
 * on the org are among them.
 */

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { ChangeCounts, type ChangeCountsOptions } from "./change-counts.ts";
import { type TrailRow, TrailRows } from "./trail-rows.ts";

/** A changed field; an absent side means that there was, or is, no such field. */
export interface Change {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface AuditRow extends TrailRow {
  readonly actor: { readonly kind: Caller["actor"]["kind"]; readonly id: string };
  /** Resource and verb: `key.update`. */
  readonly act: string;
  readonly target: string;
  readonly changes: readonly Change[];
  /** Why, where the actor had to say so. */
  readonly reason: string;
  readonly requestId: string;
  readonly ipPrefix: string;
  readonly userAgent: string;
}

export interface AuditEntry {
  readonly act: string;
  /** Id of what was changed. */
  readonly target: string;
  /** The resource as the API showed it before; absent for one that is new. It must hold no secret. */
  readonly before?: object;
  /** Absent for one that is gone. */
  readonly after?: object;
  readonly reason?: string;
  /** If not the caller's: an operator acts on any org. */
  readonly orgId?: string;
}

const KEPT_DAYS = 400;
/** Characters of a value as JSON; longer ones, such as policies, are told by their length. */
const MAX_VALUE = 2000;
/** Characters of all values of a row; further ones are told by their length. */
const MAX_VALUES = 16_000;

export class Audit extends TrailRows<AuditRow> {
  readonly #clock: Clock;
  readonly #changes: ChangeCounts;

  constructor(options: ChangeCountsOptions) {
    super(options, { prefix: "aud", rows: "audit.rows", periods: "audit.days", keptDays: KEPT_DAYS });
    this.#clock = options.clock;
    this.#changes = new ChangeCounts(options);
  }

  /** Only in an act. @throws WeirError 403 `plan_limit` for a tenant's change beyond the quota of its org */
  note(caller: Caller, { act, target, before, after, reason = "", orgId = caller.orgId }: AuditEntry): void {
    const createdAtMs = this.#clock.now();
    this.#changes.count(caller, orgId, act, createdAtMs);
    this.put({
      id: newId("aud", createdAtMs),
      orgId,
      createdAtMs,
      actor: caller.actor,
      act,
      target,
      changes: changesBetween(before, after),
      reason,
      requestId: caller.requestId,
      ipPrefix: caller.origin.ipPrefix,
      userAgent: caller.origin.userAgent.slice(0, 200),
    });
  }

  override close(): void {
    super.close();
    this.#changes.close();
  }
}

/** Fields that differ, in the order of their first appearance. */
export function changesBetween(before: object = {}, after: object = {}): Change[] {
  const old = new Map(Object.entries(before));
  const young = new Map(Object.entries(after));
  let left = MAX_VALUES;
  const shortened = (value: unknown): unknown => {
    const { length } = JSON.stringify(value);
    if (length > Math.min(MAX_VALUE, left)) return `(${length} characters)`;
    left -= length;
    return value;
  };
  return [...new Set([...old.keys(), ...young.keys()])]
    .filter((field) => !isDeepStrictEqual(old.get(field), young.get(field)))
    .map((field) => ({
      field,
      ...(old.get(field) !== undefined && { before: shortened(old.get(field)) }),
      ...(young.get(field) !== undefined && { after: shortened(young.get(field)) }),
    }));
}
