/**
 * `npm run simulate -- routing [--requests N] [--seed S] [--only NAME] [--json]`: runs a simulation in virtual time and prints its
 * tables, or its rows as JSON (an endpoint that never came back: `recoveryS` null).
 *
 * `npm run simulate -- billing [--orgs N] [--days N] [--from YYYY-MM-DD] [--seed S]`: a year of business in virtual time; ends with 1
 * at the first night on which something does not agree.
 *
 * `npm run simulate -- cells [--schedules N] [--seed S] [--verbose]`: several cells at one Redis, each schedule from a seed of its own; ends
 * with 1 where one broke a promise, and says its seed. `--verbose` prints what happened in each.
 */
import { parseArgs } from "node:util";
import { simulateBilling } from "./billing/billing.ts";
import { simulateCells } from "./cells/cells.ts";
import { simulateRouting } from "./routing.ts";
import { tableOf } from "./table.ts";
import { TROUBLES } from "./troubles.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    orgs: { type: "string", default: "500" },
    days: { type: "string", default: "365" },
    from: { type: "string", default: "2026-01-01" },
    schedules: { type: "string", default: "1000" },
    verbose: { type: "boolean", default: false },
  },
});

const seed = Number(values.seed);
if (!Number.isSafeInteger(seed)) usage();
const [which] = positionals;
if (which === "routing" && positionals.length === 1) await routing();
else if (which === "billing" && positionals.length === 1) await billing();
else if (which === "cells" && positionals.length === 1) await cells();
else usage();

function usage(): never {
  console.error(`usage: npm run simulate -- routing [--requests N] [--seed S] [--only NAME] [--json]
       npm run simulate -- billing [--orgs N] [--days N] [--from YYYY-MM-DD] [--seed S]
       npm run simulate -- cells [--schedules N] [--seed S] [--verbose]`);
  process.exit(2);
}

function count(text: string): number {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : usage();
}

async function routing(): Promise<void> {
  const requests = count(values.requests);
  const troubles = TROUBLES.filter(({ name }) => name.startsWith(values.only));
  if (troubles.length === 0) usage();
  const rows = await simulateRouting(requests, seed, troubles);
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else console.log(`${requests} calls each, seed ${seed}${tableOf(rows, troubles)}`);
}

async function billing(): Promise<void> {
  const [orgs, days] = [count(values.orgs), count(values.days)];
  const { from } = values;
  if (Number.isNaN(Date.parse(from))) usage();
  const startedMs = performance.now();
  const { figures, deviation } = await simulateBilling({
    orgs,
    days,
    from,
    seed,
    onDay: (day) => day % 10 === 9 && console.error(`day ${day + 1}, ${seconds(startedMs)} s`),
  });
  console.log(`${orgs} orgs, ${days} days from ${from}, seed ${seed}, ${seconds(startedMs)} s`);
  console.log(figures.table());
  if (deviation === undefined) return;
  console.log(`\nDEVIATION with seed ${seed}, found on ${deviation.day}: ${deviation.what}`);
  process.exitCode = 1;
}

async function cells(): Promise<void> {
  const schedules = count(values.schedules);
  const startedMs = performance.now();
  const { broken, counts } = await simulateCells({
    seed,
    schedules,
    ...(values.verbose && { onLine: (line: string) => console.log(line) }),
    onBroken: ({ seed: of, what }) =>
      console.log(`BROKEN: ${what}\nagain: npm run simulate -- cells --seed ${of} --schedules 1 --verbose`),
    onSome: (done) => console.error(`${done} schedules, ${seconds(startedMs)} s`),
  });
  const figures = Object.entries(counts).map(([name, number]) => `${Math.round(number)} ${name}`);
  console.log(
    `${schedules} schedules from seed ${seed}, ${seconds(startedMs)} s: ${figures.join(", ")}; ${broken} broken`,
  );
  if (broken > 0) process.exitCode = 1;
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1000).toFixed(1);
}
