/** Runs acts that wait one on top of the other, without storing anything: a group, which goes to the dataset in one exchange. */
import { fail } from "../../../base/errors.ts";
import { NeedsCredit, type OrgFunds } from "./act-credit.ts";
import { ActRun } from "./act-run.ts";
import { Draft } from "./draft.ts";
import type { Running } from "./shared-table.ts";

export interface Waiting {
  readonly act: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** It was promised, and waits as long as it takes. */
  readonly isOwed: boolean;
  /** Monotonic. */
  readonly sinceMs: number;
  readonly refusals: number;
  /** How often it was refused because cells had idle credit. */
  readonly recalls: number;
  /** Orgs whose credit it reads, as earlier runs have shown. */
  readonly orgs: readonly string[];
}

/** A run that is on its way. */
export interface Sent {
  /** The act that runs. */
  readonly waiting: Waiting;
  readonly run: ActRun;
  readonly value: unknown;
  /** The dataset has said so. */
  isCommitted: boolean;
  /** The rows are stored here. */
  isApplied: boolean;
  /** Every live cell has them. */
  isEverywhere: boolean;
  /** The caller was told that the outcome is not known: it is not run again. */
  isAnswered: boolean;
}

/** An act that threw on top of others: whether it throws is known when they are committed. */
export interface Thrown {
  readonly waiting: Waiting;
  readonly error: unknown;
}

export type Item = Sent | Thrown;

export interface GroupDeps {
  readonly isShared: (table: string) => boolean;
  readonly setRunning: (running: Running | undefined) => void;
}

/** What one exchange may hold: some milliseconds of Redis. One act more may be added to what is below. */
const GROUP_ACTS = 200;
const GROUP_ROWS = 3000;
const GROUP_READS = 6000;
const GROUP_BYTES = 4 * 1024 * 1024;
/** Rows that one act may change: some ten milliseconds of Redis. */
const MOST_ROWS = 20_000;
const MOST_READS = 100_000;
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * An act that reads the credit of orgs is a group of its own.
 * @param waiting what is run is taken from it @param nextId numbers of runs rise @param funds for the first act
 */
export function runGroup(
  deps: GroupDeps,
  waiting: Waiting[],
  nextId: () => number,
  funds: ReadonlyMap<string, OrgFunds>,
): Item[] {
  const before = new Draft();
  const items: Item[] = [];
  let [runs, rows, reads, bytes, taken] = [0, 0, 0, 0, 0];
  for (const next of waiting) {
    if (runs >= GROUP_ACTS || rows >= GROUP_ROWS || reads >= GROUP_READS || bytes >= GROUP_BYTES) break;
    const isAlone = next.orgs.length > 0;
    if (isAlone && taken > 0) break;
    taken++;
    const run = new ActRun(nextId(), isAlone ? funds : undefined);
    try {
      const value = runOne(deps, next, run, before);
      if (run.credit.needed.size > 0) throw new NeedsCredit();
      const size = run.sharedSize(deps.isShared);
      assertSize(size.rows, run.readCount, size.bytes);
      const state = { isCommitted: false, isApplied: false, isEverywhere: false, isAnswered: false };
      items.push({ waiting: next, run, value, ...state });
      before.add(run.draft);
      runs++;
      rows += size.rows;
      reads += run.readCount;
      bytes += size.bytes;
      if (isAlone) break;
    } catch (error) {
      run.drop();
      const { needed } = run.credit;
      if (needed.size > 0) {
        taken--;
        waiting[taken] = { ...next, orgs: [...new Set([...next.orgs, ...needed])] };
        break;
      }
      if (runs === 0) next.reject(error);
      else items.push({ waiting: next, error });
    }
  }
  waiting.splice(0, taken);
  return items;
}

function runOne({ setRunning }: GroupDeps, { act }: Waiting, run: ActRun, before: Draft): unknown {
  setRunning({ run, before, isProbe: false });
  try {
    return act();
  } finally {
    setRunning(undefined);
  }
}

function assertSize(rows: number, reads: number, bytes: number): void {
  if (rows <= MOST_ROWS && reads <= MOST_READS && bytes <= MOST_BYTES) return;
  const found = `${rows} rows of ${bytes} bytes and reads ${reads}`;
  throw fail("payload_too_large", `An act changes ${found}: at most ${MOST_ROWS} and ${MOST_BYTES} bytes.`);
}
