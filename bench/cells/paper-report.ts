/** `npm run bench -- cells-paper`: the tables of what Redis carries. */
import { parseArgs } from "node:util";
import { bestCells, type CallCost, capacityOf } from "./cores.ts";
import { ceilingOf, type KindCost, loadOf, type Measured, measureExchanges } from "./paper.ts";

export const PAPER_USAGE = `npm run bench -- cells-paper [options]
  what each kind of exchange takes of Redis, and computed from it how many cells and calls one Redis carries

  --seconds S     for each kind (default 3)
  --cell-calls N  calls a second of one cell, from --cells (default 5000)
  --call-cost A,B,C,D  what a call takes of two cells, from --cells: main thread, other threads and engine in µs, and what a cell
                  takes at rest in ms a second: then also what cells carry on 1 to 32 cores
  --connections N of busy clients, spread over the cells by chance (default 256)`;

const SCENARIOS = [
  { orgs: 1, keyed: 0, actsPerSecond: 1 },
  { orgs: 100, keyed: 0, actsPerSecond: 10 },
  { orgs: 10_000, keyed: 0, actsPerSecond: 10 },
  { orgs: 100, keyed: 0.1, actsPerSecond: 10 },
  { orgs: 100, keyed: 1, actsPerSecond: 10 },
] as const;

/** @throws Unavailable where there is no redis-server; Error that names a wrong argument */
export async function benchPaper(args: readonly string[], say: (line: string) => void): Promise<string> {
  const text = { type: "string" } as const;
  const options = { seconds: text, "cell-calls": text, "call-cost": text, connections: text };
  const { values } = parseArgs({ args: [...args], options });
  const [seconds, cellCalls] = [Number(values.seconds ?? 3), Number(values["cell-calls"] ?? 5000)];
  if (!(seconds > 0 && seconds <= 3600)) throw new Error("--seconds: is not a number above 0 and up to 3600");
  if (!(cellCalls > 0)) throw new Error("--cell-calls: is not a number above 0");
  const connections = Number(values.connections ?? 256);
  if (!(connections > 0)) throw new Error("--connections: is not a number above 0");
  const cost = values["call-cost"] === undefined ? undefined : costOf(values["call-cost"]);
  const measured = await measureExchanges(seconds, say);
  return [
    kindsTable(measured.kinds),
    `\n4 KB are on this disk after ${measured.syncMs.toFixed(2)} ms\n`,
    thousandTable(measured),
    "",
    ceilingsTable(measured, cellCalls),
    ...(cost === undefined ? [] : ["", coresTable(measured, cost, connections)]),
  ].join("\n");
}

function costOf(given: string): CallCost {
  const [mainUs = Number.NaN, helpersUs = Number.NaN, engineUs = Number.NaN, restMs = Number.NaN, ...more] =
    given.split(",").map(Number);
  const isWhole = more.length === 0 && [mainUs, helpersUs, engineUs, restMs].every((value) => value >= 0);
  if (!isWhole || mainUs === 0)
    throw new Error("--call-cost: is not four numbers, of which the first is above 0");
  return { mainUs, helpersUs, engineUs, restMs };
}

const line = (fields: readonly (string | number)[]): string => `| ${fields.join(" | ")} |`;

const whole = (value: number): string => Math.round(value).toLocaleString("en");

const kindsTable = (kinds: readonly KindCost[]): string =>
  [
    line(["exchange", "Redis µs", "reply ms", "file bytes", "memory bytes", "what"]),
    line(["---", "---:", "---:", "---:", "---:", "---"]),
    ...kinds.map(({ name, about, redisUs, ms, fileBytes, memoryBytes }) =>
      line([name, whole(redisUs), ms.toFixed(2), whole(fileBytes), whole(memoryBytes), about]),
    ),
  ].join("\n");

/** Calls a second of both tables' examples, with two cells. */
const EXAMPLES = [100, 1_000, 10_000];

const thousandTable = (measured: Measured): string =>
  [
    line(["2 cells, 100 orgs", "Redis ms / 1,000 calls", "processor", "exchanges/s", "file MB/h"]),
    line(["---", "---:", "---:", "---:", "---:"]),
    ...EXAMPLES.map((callsPerSecond) => {
      const load = loadOf(measured, { cells: 2, callsPerSecond, orgs: 100, keyed: 0, actsPerSecond: 1 });
      return line([
        `${whole(callsPerSecond)} calls/s`,
        ((load.redis * 1e6) / callsPerSecond).toFixed(1),
        `${(load.redis * 100).toFixed(1)} %`,
        whole(load.exchangesPerSecond),
        whole((load.bytesPerSecond * 3600) / 1e6),
      ]);
    }),
  ].join("\n");

const ceilingsTable = (measured: Measured, cellCalls: number): string =>
  [
    line(["orgs with calls", "with a key", "acts/s", "calls/s at 70 %", "cells", "exchanges/s", "file MB/s"]),
    line(["---:", "---:", "---:", "---:", "---:", "---:", "---:"]),
    ...SCENARIOS.map((traffic) => {
      const { callsPerSecond, cells, exchangesPerSecond, bytesPerSecond } = ceilingOf(
        measured,
        traffic,
        cellCalls,
      );
      return line([
        whole(traffic.orgs),
        `${traffic.keyed * 100} %`,
        traffic.actsPerSecond,
        whole(callsPerSecond),
        cells,
        whole(exchangesPerSecond),
        (bytesPerSecond / 1e6).toFixed(1),
      ]);
    }),
  ].join("\n");

const CORES = [1, 2, 4, 8, 16, 32];
const ONE_ORG = { orgs: 1, keyed: 0, actsPerSecond: 1 };
const SOME_ORGS = { orgs: 100, keyed: 0, actsPerSecond: 1 };

const coresTable = (measured: Measured, cost: CallCost, connections: number): string =>
  [ONE_ORG, SOME_ORGS]
    .map((traffic) =>
      [
        line([
          `cores, ${traffic.orgs} orgs`,
          "calls/s, as many cells",
          "a core",
          "hottest cell",
          "Redis",
          "ends with",
          "best cells",
          "calls/s",
          "a core",
        ]),
        line(["---:", "---:", "---:", "---:", "---:", "---", "---:", "---:", "---:"]),
        ...CORES.map((cores) => {
          const same = capacityOf(measured, cost, { cores, cells: cores, connections }, traffic);
          const best = bestCells(measured, cost, { cores, connections }, traffic);
          return line([
            cores,
            whole(same.callsPerSecond),
            whole(same.callsPerSecond / cores),
            `${same.hottest.toFixed(2)} ×`,
            `${(same.redis * 100).toFixed(0)} %`,
            same.limit,
            best.cells,
            whole(best.callsPerSecond),
            whole(best.callsPerSecond / cores),
          ]);
        }),
      ].join("\n"),
    )
    .join("\n\n");
