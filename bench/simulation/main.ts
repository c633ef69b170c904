/** `npm run simulate -- routing [--requests N] [--seed S]`: runs a simulation in virtual time and prints its table. */
import { parseArgs } from "node:util";
import { simulateRouting, tableOf } from "./routing.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: "string", default: "6000" },
    seed: { type: "string", default: "1" },
  },
});

const requests = Number(values.requests);
const seed = Number(values.seed);
if (positionals[0] !== "routing" || positionals.length > 1 || !(requests > 0) || !Number.isInteger(seed)) {
  console.error("usage: npm run simulate -- routing [--requests N] [--seed S]");
  process.exit(2);
}
const rows = await simulateRouting(requests, seed);
console.log(`${requests} calls each, seed ${seed}${tableOf(rows)}`);
