/**
 * How many changes an org makes: each is a row of the audit, kept for 400 days, and often an event. An org's keys, its owners and
 * admins, its other people and its directory have a quota each, so that neither a key that got out nor a member keeps an owner from
 * putting things right.
 */

import { localDay } from "../../base/clock.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { assertWithin, type QuotaName, type Quotas, USUAL_QUOTAS } from "../../base/quota.ts";
import { type ExpiringTable, openExpiringTable } from "../tables/expiring-table.ts";
import type { TrailOptions } from "./trail-rows.ts";

/** A month's row is put anew each day that something changes, and goes after the month. */
const KEPT_DAYS = 32;

/** Acts of a person who signs in or answers an invitation: these are not refused where an org has used its quota up. The number of invitations bounds them. */
const OF_SIGN_IN: ReadonlySet<string> = new Set(["join", "decline", "first_owner"]);

/** They are as many as what was made before, and are what somebody does about a leak: no quota stops them. */
const TAKES_AWAY: ReadonlySet<string> = new Set([
  "delete",
  "remove",
  "revoke",
  "close",
  "disable",
  "deactivate",
  "cancel",
  "request_erasure",
]);

const QUOTAS: Readonly<
  Partial<Record<Caller["actor"]["kind"], readonly [day: QuotaName, month: QuotaName]>>
> = {
  key: ["changes_per_day", "changes_per_month"],
  person: ["changes_per_day", "changes_per_month"],
  directory: ["directory_changes_per_day", "directory_changes_per_month"],
};

/** Who share a quota; `person`: owners and admins. */
const WHOSE = {
  key: "the keys of an organisation",
  person: "the owners and admins of an organisation",
  member: "the other people of an organisation",
  directory: "an organisation's directory",
};
type Who = keyof typeof WHOSE;

/** Owners and admins are known by `write:org`, which no other person holds. */
function whoOf({ actor: { kind }, scopes }: Caller): Who {
  if (kind !== "person") return kind === "directory" ? "directory" : "key";
  return scopes.has("write:org") ? "person" : "member";
}

export interface ChangeCountsOptions extends TrailOptions {
  readonly quotas?: Quotas;
}

export class ChangeCounts {
  /** [org id, who, day or month] → changes. */
  readonly #rows: ExpiringTable<number>;
  readonly #quotas: Quotas;

  constructor({ store, clock, quotas = USUAL_QUOTAS, onFailure }: ChangeCountsOptions) {
    this.#quotas = quotas;
    this.#rows = openExpiringTable({
      store,
      clock,
      rows: "audit.counts",
      periods: "audit.count_days",
      keepPeriods: KEPT_DAYS,
      onFailure: (error) =>
        onFailure(error, "old counts of changes could not be forgotten; it is tried again"),
    });
  }

  /** Only in an act. @param act resource and verb @throws WeirError 403 `plan_limit` */
  count(caller: Caller, orgId: string, act: string, nowMs: number): void {
    const quotas = QUOTAS[caller.actor.kind];
    const verb = act.slice(act.indexOf(".") + 1);
    if (quotas === undefined || TAKES_AWAY.has(verb) || OF_SIGN_IN.has(verb)) return;
    const day = localDay(nowMs, "UTC");
    const [ofDay, ofMonth] = quotas;
    const who = whoOf(caller);
    this.#add([orgId, who, day], ofDay, "day", nowMs);
    this.#add([orgId, who, day.slice(0, 7)], ofMonth, "month", nowMs);
  }

  #add(key: [string, Who, string], quota: QuotaName, period: "day" | "month", nowMs: number): void {
    const made = this.#rows.get(key) ?? 0;
    const what = `changes by ${WHOSE[key[1]]} in a ${period} (UTC)`;
    assertWithin(this.#quotas, quota, made, what, "Deleting and revoking still work; wait with the rest.");
    this.#rows.put(key, made + 1, nowMs);
  }

  close(): void {
    this.#rows.close();
  }
}
