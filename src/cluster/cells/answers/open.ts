/** What cells tell each other of answers that outlive their calls, and of the quotas that these count in. */
import { systemTimers } from "../../../base/clock.ts";
import type { KeptSharing } from "../../../inference/exchange/kept/open.ts";
import type { Cell } from "../cell.ts";
import { quotaOver } from "./kept-quota.ts";
import { SharedKept } from "./shared-kept.ts";

export function openKeptOfCell(cell: Cell, onFailure: (error: unknown) => void): KeptSharing {
  const shared = new SharedKept({ cell, timers: systemTimers, onFailure });
  const quota = quotaOver(cell);
  return {
    answers: shared.answers,
    responses: shared.responses,
    quota: quota.cells,
    shareQuota: quota.share,
    start: (own) => shared.start(own),
    forgotten: () => shared.forgotten(),
    stop: () => shared.stop(),
  };
}
