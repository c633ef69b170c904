/** `weir recover`: says what a damaged journal would cost, and with `--yes` gives it up, with the files kept aside. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { carryOut, describePlan, planRecovery } from "../store/recover.ts";

export interface RecoverArgs {
  readonly dataDir: string;
  /** Do it; without, it is only told. */
  readonly yes: boolean;
  readonly clock: Clock;
}

/** Resolves with the exit code: 0 where nothing is damaged or it is mended, 1 where something is left to do. */
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
