/**
 * `weir recover`: reports what repairing a damaged journal would lose, and with `--yes` does it, keeping a copy of the
 * files.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { carryOut, describePlan, planRecovery } from "../../store/recovery/recover.ts";

export interface RecoverArgs {
  readonly dataDir: string;
  /** Do it; otherwise only report it. */
  readonly yes: boolean;
  readonly clock: Clock;
}

/** Resolves with the exit code: 0 where nothing is damaged or it was repaired, 1 where work remains. */
export async function recover(
  { dataDir, yes, clock }: RecoverArgs,
  out: (line: string) => void,
): Promise<number> {
  if (!existsSync(dataDir)) {
    out(`${dataDir} does not exist`);
    return 1;
  }
  const plan = planRecovery(dataDir);
  if (plan === undefined) {
    out("The journal is not damaged; there is nothing to recover.");
    return 0;
  }
  for (const line of describePlan(plan, "ledger")) out(line);
  if (!yes) {
    out(`Nothing was changed. "weir recover --yes" does it, and keeps the damaged files.`);
    return 1;
  }
  const aside = join(dataDir, `damaged-${new Date(clock.now()).toISOString().replaceAll(":", "-")}`);
  carryOut(dataDir, plan, aside);
  out(`Done. The files as they were: ${aside}`);
  return 0;
}
