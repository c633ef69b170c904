/**
 * `npm run simulate -- routing [--requests N] [--seed S] [--only NAME] [--json]`: runs a simulation in virtual time and prints its
 * tables, or its rows as JSON (an endpoint that never came back: `recoveryS` null).
 */
import { parseArgs } from "node:util";
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
  },
});

const requests = Number(values.requests);
const seed = Number(values.seed);
const troubles = TROUBLES.filter(({ name }) => name.startsWith(values.only));
const isCount = Number.isSafeInteger(requests) && requests > 0;
if (positionals.join() !== "routing" || !isCount || !Number.isSafeInteger(seed) || troubles.length === 0) {
  console.error("usage: npm run simulate -- routing [--requests N] [--seed S] [--only NAME] [--json]");
  process.exit(2);
}
const rows = await simulateRouting(requests, seed, troubles);
if (values.json) console.log(JSON.stringify(rows, null, 2));
else console.log(`${requests} calls each, seed ${seed}${tableOf(rows, troubles)}`);
