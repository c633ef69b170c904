/** Each org's ledger, read on from where the night before ended: numbers without gaps, sums, and where each sum comes from. */
import { entryOf, type LedgerEntry, type StoredEntry } from "../../../src/credits/ledger/entry.ts";
import { must } from "./figures.ts";
import type { GatewayProcess } from "./process.ts";

interface Read {
  seq: number;
  sumMicroUsd: number;
  posted: number;
}

export class LedgerWatch {
  readonly #read = new Map<string, Read>();

  /**
   * @param given of top-ups, less refunds and disputes, and of modules; asked after `onEntry` was told of each new entry
   * @param isWhole reads it from its beginning
   */
  check(
    { store, rooms }: GatewayProcess,
    orgId: string,
    given: () => number,
    isWhole: boolean,
    onEntry: (entry: LedgerEntry) => void,
  ): void {
    const known = this.#read.get(orgId)?.seq ?? 0;
    const before = isWhole ? undefined : this.#read.get(orgId);
    const read = before ?? { seq: 0, sumMicroUsd: 0, posted: 0 };
    const postedBefore = read.posted;
    const range = { start: [orgId, read.seq + 1], end: [orgId, Number.MAX_SAFE_INTEGER] };
    for (const { key, value } of store.table<StoredEntry>("ledger").range(range)) {
      const entry = entryOf((key as [string, number])[1], value);
      must(entry.seq === read.seq + 1, () => `${orgId}: entry ${entry.seq} follows ${read.seq}`);
      read.seq = entry.seq;
      if (entry.seq > known) onEntry(entry);
      read.sumMicroUsd += entry.amountMicroUsd;
      if (entry.kind !== "settle") read.posted += 1;
      const { balanceMicroUsd } = entry;
      must(
        balanceMicroUsd === read.sumMicroUsd,
        () =>
          `${orgId}: the sum at entry ${entry.seq} is ${read.sumMicroUsd}, its balance ${balanceMicroUsd}`,
      );
    }
    this.#read.set(orgId, read);
    const { balanceMicroUsd } = rooms.book.balance(orgId);
    const sum = read.sumMicroUsd;
    must(balanceMicroUsd === sum, () => `${orgId}: in memory ${balanceMicroUsd}, by the ledger ${sum}`);
    const givenMicroUsd = given();
    const of = (name: string) => rooms.tallies.of(name, orgId);
    const due = givenMicroUsd + of("granted") - of("expired") - of("spent");
    must(
      sum === due,
      () =>
        `${orgId}: paid ${givenMicroUsd} + granted ${of("granted")} - expired - spent is ${due}, balance ${sum}`,
    );
    if (isWhole || read.posted !== postedBefore) checkLots({ rooms }, orgId, sum);
  }
}

function checkLots({ rooms }: Pick<GatewayProcess, "rooms">, orgId: string, balance: number): void {
  const { paidMicroUsd, grants } = rooms.lots.of(orgId);
  const granted = grants.reduce((sum, { leftMicroUsd }) => sum + leftMicroUsd, 0);
  must(
    paidMicroUsd + granted === balance,
    () => `${orgId}: lots ${paidMicroUsd} + ${granted}, balance ${balance}`,
  );
}
