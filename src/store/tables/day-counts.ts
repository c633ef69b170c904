/** Counts of what is done on one day (UTC), each held against a quota. They go once the day is over. */
import { type Clock, localDay } from "../../base/clock.ts";
import { assertWithin, type QuotaName, type Quotas } from "../../base/quota.ts";
import { type ExpiringTable, type ExpiringTableOptions, openExpiringTable } from "./expiring-table.ts";

export class DayCounts {
  readonly #clock: Clock;
  /** [whose …, day]. */
  readonly #rows: ExpiringTable<number>;

  constructor(options: Omit<ExpiringTableOptions<number>, "periodMs" | "keepPeriods" | "onRemove">) {
    this.#clock = options.clock;
    this.#rows = openExpiringTable(options);
  }

  /** Only in the act that does one more. @param what and `cure` as of {@link assertWithin} @throws WeirError 403 `plan_limit` */
  add(quotas: Quotas, quota: QuotaName, whose: readonly string[], what: string, cure: string): void {
    const nowMs = this.#clock.now();
    const key = [...whose, localDay(nowMs, "UTC")];
    const count = this.#rows.get(key) ?? 0;
    assertWithin(quotas, quota, count, what, cure);
    this.#rows.put(key, count + 1, nowMs);
  }

  close(): void {
    this.#rows.close();
  }
}
