/** Kill -9 around the instant of a dated price: it is in force with its announced version, and in the changelog once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { storedChangelog } from "../../../src/catalog/models/changelog.ts";
import { storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { openStore } from "../../../src/store/store.ts";
import { modelFile, PROVIDERS } from "../../support/catalog/world.fixtures.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-crash-catalog-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const EU = "ep_near_m_eu";
const FIRST_MS = 3000;
/** So far ahead the instant is at the most: a process that begins behind it then is no late one. */
const FURTHEST_MS = 32 * FIRST_MS;

function opener(folder: string, step: number) {
  const file = join(import.meta.dirname, "opener.ts");
  const child = spawn(process.execPath, [file, folder, String(step)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  return {
    prices: () => said.split("\n").slice(0, -1),
    alive: () => child.exitCode === null && child.signalCode === null,
    async end() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** @returns the folder and the instant; undefined where the process began behind that, and so had nothing to commit at it */
async function killedAt(
  step: number,
  aheadMs: number,
): Promise<{ readonly folder: string; readonly from: string } | undefined> {
  const folder = join(home, `f${step}-${aheadMs}`);
  mkdirSync(join(folder, "models"), { recursive: true });
  writeFileSync(join(folder, "providers.yaml"), PROVIDERS);
  const price = (input: number) => `price: { input: ${input}, output: 4 }`;
  const from = new Date(Date.now() + aheadMs).toISOString();
  const endpoint = `provider: near, upstream_model: m, region: eu, ${price(2)}, scheduled: [{ from: "${from}", ${price(3)} }]`;
  writeFileSync(join(folder, "models/real.yaml"), modelFile([endpoint]));
  const killed = opener(folder, step);
  const isTooLate = () => killed.prices()[0]?.startsWith("price 3 ") === true;
  await until("it is killed, or too late", () => !killed.alive() || isTooLate());
  if (!killed.alive()) return { folder, from };
  await killed.end();
  return undefined;
}

// Before and behind the commit of the start, and before and behind that of the instant.
// At once: each waits for an instant.
test.concurrent.each([1, 2, 3, 4])("a process that is killed at step %d, and one after it", async (step) => {
  let found = await killedAt(step, FIRST_MS);
  for (let aheadMs = 2 * FIRST_MS; found === undefined; aheadMs *= 2) {
    expect(aheadMs, "the process begins behind the instant each time").toBeLessThanOrEqual(FURTHEST_MS);
    found = await killedAt(step, aheadMs);
  }
  const { folder, from } = found;
  const next = opener(folder, 0);
  await until("the dated price is in force", () => next.prices().some((line) => line.startsWith("price 3 ")));
  await next.end();
  const store = openStore(join(folder, "data"));
  const versions = storedPriceVersions(store, systemClock);
  const history = versions.history(EU);
  expect(history[0]?.version).toBe(next.prices().at(-1)?.split(" ")[2]);
  // A process that first started behind the instant never had the earlier price.
  expect(history.map(({ listPrices }) => listPrices.input).join()).toMatch(/^3000(,2000)?$/);
  const log = storedChangelog(store, systemClock, versions).of("real/model");
  const changes = log.filter(({ kind }) => kind === "price_change");
  expect(changes.map(({ effectiveMs }) => new Date(effectiveMs).toISOString())).toEqual(
    history.length === 2 ? [from] : [],
  );
  expect(log.filter(({ kind }) => kind === "model_added")).toHaveLength(1);
  await store.close();
});
