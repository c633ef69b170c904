/**
 * What runs of shared acts write in tables of this cell alone, from before a run is sent until it is known whether it was committed:
 * so a cell that dies in between stores both parts of an act, or none. Such rows are stored with the entry of the act.
 */
import type { Store, Table } from "../../../store/store.ts";
import type { Change, Entry } from "./replica.ts";

/** Life and number of a run. */
type RunKey = [life: number, run: number];

export class RunJournal {
  readonly #local: Store;
  readonly #cell: string;
  readonly #runs: Table<readonly Change[]>;

  constructor(local: Store, cell: string) {
    this.#local = local;
    this.#cell = cell;
    this.#runs = local.table("cells.runs");
  }

  /** Resolves once the changes are durable. */
  async keep(life: string, runs: ReadonlyMap<number, readonly Change[]>): Promise<void> {
    if (runs.size === 0) return;
    const act = () => {
      for (const [run, changes] of runs) this.#runs.put([Number(life), run], changes);
    };
    await this.#local.act(act, { isOwed: true });
  }

  /** Runs that were refused. Resolves once that is durable: a later run that is committed would stand for them. */
  async forget(life: string, runs: readonly number[]): Promise<void> {
    const kept = runs.filter((run) => this.#runs.get([Number(life), run]) !== undefined);
    if (kept.length === 0) return;
    const act = () => {
      for (const run of kept) this.#runs.remove([Number(life), run]);
    };
    await this.#local.act(act, { isOwed: true });
  }

  /** In an act: what is to be stored with this entry, which is removed here. */
  take({ origin }: Entry): readonly Change[] {
    if (!origin.startsWith(`${this.#cell}:`)) return [];
    const [life = 0, run = 0] = origin
      .slice(this.#cell.length + 1)
      .split(":")
      .map(Number);
    return this.#takeRun([life, run]);
  }

  /** In an act: what all runs wrote up to this one, `life:number`, the last that was committed. */
  takeUpTo(lastRun: string): readonly Change[] {
    if (lastRun === "") return [];
    const [life = 0, run = 0] = lastRun.split(":").map(Number);
    const keys = [...this.#runs.range({ start: [life], end: [life, run + 1] })].map(
      ({ key }) => key as RunKey,
    );
    return keys.flatMap((key) => this.#takeRun(key));
  }

  /** Runs of earlier lives that no entry told of were never committed. Only once the cell has caught up in its new life. */
  async forgetBefore(life: string): Promise<void> {
    const act = () => {
      for (const { key } of [...this.#runs.range({ end: [Number(life)] })]) this.#runs.remove(key);
    };
    await this.#local.act(act, { isOwed: true });
  }

  #takeRun(key: RunKey): readonly Change[] {
    const changes = this.#runs.get(key);
    if (changes === undefined) return [];
    this.#runs.remove(key);
    return changes;
  }
}
