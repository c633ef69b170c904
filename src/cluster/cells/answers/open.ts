/** What cells tell each other of answers that outlive their calls, and of the quotas that these count in. */
import { systemTimers } from "../../../base/clock.ts";
import type { KeptSharing } from "../../../inference/exchange/kept/open.ts";
import type { Cell } from "../cell.ts";
import { within } from "../within.ts";
import { SharedKept } from "./shared-kept.ts";

/** Between two looks at which cells were retired. */
const LOOK_MS = 60_000;
/** A call does not wait longer for other cells: it is refused then, as without room. */
const EXCHANGE_MS = 500;

export function openKeptOfCell(cell: Cell, onFailure: (error: unknown) => void): KeptSharing {
  const shared = new SharedKept({ cell, timers: systemTimers, onFailure });
  return {
    answers: shared.answers,
    responses: shared.responses,
    conversations: shared.conversations,
    ...quotaOver(cell),
    start: (own) => shared.start(own),
    forgotten: () => shared.forgotten(),
    stop: () => shared.stop(),
  };
}

/** Quotas of kept bytes over cells: each tells what it keeps, and those that were retired are looked up now and then. */
function quotaOver(cell: Cell): Pick<KeptSharing, "quota" | "shareQuota"> {
  let retired: ReadonlySet<string> = new Set();
  return {
    quota: {
      own: cell.name,
      running: () => cell.standing().cellsAlive,
      isRetired: (name) => retired.has(name),
      exchange: async () => void (await within(EXCHANGE_MS, cell.merged.flush()).catch(() => {})),
    },
    shareQuota(kept) {
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
