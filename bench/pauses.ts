/**
 * The first second of load after a start and after a pause: what a gateway costs whose code is not compiled yet, or not
 * any more.
 */
import type { Case } from "./cases.ts";
import type { Driver } from "./driver.ts";
import { ProcessGone } from "./measure.ts";
import type { RunningTarget } from "./targets/target.ts";

export interface FirstSecond {
  readonly caseName: string;
  readonly target: string;
  readonly after: "start" | "pause";
  /** CPU of the process in that second, per call answered in it. */
  readonly cpuUs: number;
  readonly calls: number;
}

/** @param gone called with a target whose process ended */
export async function firstSeconds(
  driver: Driver,
  benchCase: Case,
  targets: ReadonlyMap<string, RunningTarget>,
  after: FirstSecond["after"],
  gone: (target: string, reason: string) => void,
): Promise<FirstSecond[]> {
  const figures: FirstSecond[] = [];
  for (const [name, target] of targets) {
    if (target.pid === undefined) continue;
    try {
      const job = driver.job(benchCase, target, { seconds: 1, amount: 0 });
      const { result, ownUs = Number.NaN } = await driver.measure(job, target, 0);
      if (result.intact === 0) continue;
      const { calls } = result;
      figures.push({ caseName: benchCase.name, target: name, after, cpuUs: ownUs / calls, calls });
    } catch (error) {
      if (!(error instanceof ProcessGone)) throw error;
      gone(name, error.message);
    }
  }
  return figures;
}
