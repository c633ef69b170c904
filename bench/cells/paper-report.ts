/** `npm run bench -- cells-paper`: the tables of what Redis carries. */
import { parseArgs } from "node:util";
import { ceilingOf, type KindCost, loadOf, type Measured, measureExchanges } from "./paper.ts";

export const PAPER_USAGE = `npm run bench -- cells-paper [options]
  what each kind of exchange takes of Redis, and computed from it how many cells and calls one Redis carries

  --seconds S     for each kind (default 3)
  --cell-calls N  calls a second of one cell, from --cells (default 5000)`;

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
  const { values } = parseArgs({ args: [...args], options: { seconds: text, "cell-calls": text } });
  const [seconds, cellCalls] = [Number(values.seconds ?? 3), Number(values["cell-calls"] ?? 5000)];
  if (!(seconds > 0 && seconds <= 3600)) throw new Error("--seconds: is not a number above 0 and up to 3600");
  if (!(cellCalls > 0)) throw new Error("--cell-calls: is not a number above 0");
  const measured = await measureExchanges(seconds, say);
  return [
    kindsTable(measured.kinds),
    `\n4 KB are on this disk after ${measured.syncMs.toFixed(2)} ms\n`,
    thousandTable(measured),
    "",
    ceilingsTable(measured, cellCalls),
  ].join("\n");
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
