/**
 * Latency at a fixed offered rate: 25, 50 and 75 % of what the target answered in the closed loop. `direct` gets the same
 * rate right after, so that the load generator's and the upstream's own time can be taken off.
 */
import type { Case } from "./cases.ts";
import type { Driver } from "./driver.ts";
import { median } from "./figures.ts";
import type { LoadResult, Percentiles } from "./load-job.ts";
import { cpuTime, ProcessGone } from "./measure.ts";
import type { RunningTarget } from "./targets/target.ts";

const SHARES = [0.25, 0.5, 0.75];

export interface RateFigure {
  readonly caseName: string;
  readonly target: string;
  /** Part of the target's own calls a second in the closed loop. */
  readonly share: number;
  /** Calls a second that were sent. */
  readonly offered: number;
  /** Calls a second that were answered. */
  readonly answered: number;
  readonly latencyMs: Percentiles;
  /** Over `direct` at the same rate; undefined where that did not run. */
  readonly addedMs: Percentiles | undefined;
  readonly calls: number;
  readonly intact: number;
  readonly failed: number;
  readonly fault: string;
}

export interface RatesOptions {
  /** Length of one run at one rate. */
  readonly seconds: number;
  /** Runs at each rate; the figures are their medians. */
  readonly repeats: number;
}

/**
 * @param capacity calls a second of each target in the closed loop; a target without one is left out
 * @param gone called with a target whose process ended
 */
export async function measureRates(
  driver: Driver,
  benchCase: Case,
  targets: ReadonlyMap<string, RunningTarget>,
  capacity: ReadonlyMap<string, number>,
  options: RatesOptions,
  gone: (target: string, reason: string) => void,
): Promise<RateFigure[]> {
  const direct = targets.get("direct");
  const figures: RateFigure[] = [];
  for (const [name, target] of targets) {
    const most = capacity.get(name);
    if (most === undefined || target.pid === undefined) continue;
    try {
      for (const share of SHARES) {
        const runs: { readonly own: LoadResult; readonly direct: LoadResult | undefined }[] = [];
        for (let i = 0; i < options.repeats; i++) {
          const send = (to: RunningTarget) =>
            driver.run(driver.rate(benchCase, to, share * most, options.seconds));
          const own = await send(target);
          // Throws where the process has ended: its failed calls are no figures.
          cpuTime(target.pid);
          runs.push({ own, direct: direct === undefined ? undefined : await send(direct) });
        }
        figures.push(figureOf(benchCase, name, share, share * most, runs));
      }
    } catch (error) {
      if (!(error instanceof ProcessGone)) throw error;
      gone(name, error.message);
    }
  }
  return figures;
}

function figureOf(
  benchCase: Case,
  target: string,
  share: number,
  offered: number,
  runs: readonly { readonly own: LoadResult; readonly direct: LoadResult | undefined }[],
): RateFigure {
  const own = runs.map((run) => run.own);
  const added = (read: (at: Percentiles) => number) =>
    median(
      runs.map((run) =>
        run.direct === undefined ? undefined : read(run.own.latencyMs) - read(run.direct.latencyMs),
      ),
    );
  const latency = (read: (at: Percentiles) => number) =>
    median(own.map(({ latencyMs }) => read(latencyMs))) ?? Number.NaN;
  const sum = (read: (result: LoadResult) => number) =>
    own.reduce((total, result) => total + read(result), 0);
  return {
    caseName: benchCase.name,
    target,
    share,
    offered,
    answered: median(own.map(({ calls, seconds }) => calls / seconds)) ?? Number.NaN,
    latencyMs: each(latency) as Percentiles,
    addedMs: added((at) => at.p50) === undefined ? undefined : (each(added) as Percentiles),
    calls: sum(({ calls }) => calls),
    intact: sum(({ intact }) => intact),
    failed: sum(({ failed }) => failed),
    fault: own.find(({ fault }) => fault !== "")?.fault ?? "",
  };
}

const each = <T>(read: (percentile: (at: Percentiles) => number) => T) => ({
  p50: read((at) => at.p50),
  p90: read((at) => at.p90),
  p99: read((at) => at.p99),
  p999: read((at) => at.p999),
});
