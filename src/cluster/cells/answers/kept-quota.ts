/** Quotas of kept bytes over cells: each tells what it keeps, and those that were retired are looked up now and then. */

import type { KeptBytes } from "../../../credits/kept/kept-bytes.ts";
import type { CellsOfQuota } from "../../../credits/kept/kept-others.ts";
import type { Cell } from "../cell.ts";
import { within } from "../within.ts";

interface SharedQuota {
  readonly cells: CellsOfQuota;
  /** Once the quotas are open. @returns what ends it */
  share(kept: KeptBytes): () => void;
}

const LOOK_MS = 60_000;
/** A call does not wait longer for other cells: it is refused then, as without room. */
const EXCHANGE_MS = 500;

export function quotaOver(cell: Cell): SharedQuota {
  let retired: ReadonlySet<string> = new Set();
  return {
    cells: {
      own: cell.name,
      running: () => cell.standing().cellsAlive,
      isRetired: (name) => retired.has(name),
      exchange: async () => void (await within(EXCHANGE_MS, cell.merged.flush()).catch(() => {})),
    },
    share(kept) {
      cell.merged.add({
        table: "kept.bytes",
        kind: "max",
        take: (most) => kept.takeUntold(most),
        heard: (rows) => kept.heard(rows),
      });
      // Where Redis is away, what was known holds.
      const look = () =>
        void cell.listed().then(
          ({ cells }) => {
            retired = new Set(cells.filter(({ status }) => status === "retired").map((each) => each.cell));
            kept.cellsChanged();
          },
          () => {},
        );
      look();
      const timer = setInterval(look, LOOK_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
