/** Quotas of kept bytes over cells: each tells what it keeps, and how many cells share a quota is looked up now and then. */
import type { Cell } from "../cells/cell.ts";
import type { KeptBytes } from "../limits/kept-bytes.ts";
import type { CellsOfQuota } from "../limits/kept-others.ts";

interface SharedQuota {
  readonly cells: CellsOfQuota;
  /** Once the quotas are open. @returns what ends it */
  share(kept: KeptBytes): () => void;
}

const LOOK_MS = 30_000;

/** @param atLeast cells that are known to run before anybody looked */
export function quotaOver(cell: Cell, atLeast: number): SharedQuota {
  let running = atLeast;
  let retired: ReadonlySet<string> = new Set();
  return {
    cells: { own: cell.name, running: () => running, isRetired: (name) => retired.has(name) },
    share(kept) {
      cell.merged.add({
        ...{ table: "kept.bytes", kind: "max" },
        take: (most) => kept.takeUntold(most),
        heard: (rows) => kept.heard(rows),
      });
      const look = async () => {
        const { cells } = await cell.listed();
        running = Math.max(1, cells.filter(({ status }) => status === "alive").length);
        retired = new Set(cells.filter(({ status }) => status === "retired").map((each) => each.cell));
        kept.cellsChanged();
      };
      // Where Redis is away, what was known holds.
      const lookAgain = () => void look().catch(() => {});
      lookAgain();
      const timer = setInterval(lookAgain, LOOK_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
