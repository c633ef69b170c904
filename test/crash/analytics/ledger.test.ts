/** A cell killed between its entries' commit and ClickHouse's acknowledgement: each committed entry is in the org's list, once. */
import { fork } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { settles, shown } from "../../support/analytics/ledger.fixtures.ts";
import { temporaryFolder } from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { until } from "../../support/wait.ts";

const KILLS = amount(20, 3);
const ORG = "org_killed";
const PUTTER = fileURLToPath(new URL("./ledger.putter.ts", import.meta.url));

/** @returns the last number that was committed and told */
async function killed(dataDir: string, url: string, first: number, entries: number): Promise<number> {
  const cell = fork(PUTTER, [dataDir, url, ORG, String(first)], {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let told = 0;
  cell.on("message", (seq: number) => {
    told = seq;
  });
  const exit = new Promise((resolve) => cell.once("exit", resolve));
  await until(
    "more entries are told",
    () => told,
    (count) => count >= first + entries,
  );
  cell.kill("SIGKILL");
  await exit;
  return told;
}

async function seqsOf({ analytics: { ledger } }: Bench): Promise<number[]> {
  expect(await ledger.flush(30_000)).toBe(true);
  return (await ledger.entriesOf(ORG, { limit: 100_000 })).map(({ seq }) => seq);
}

test(`kills of a cell (${KILLS}) between put and acknowledgement lose no entry and double none`, async () => {
  const home = openBench();
  const dataDir = temporaryFolder();
  try {
    await until("ClickHouse answers", () => home.analytics.live());
    const { url, username, password } = JSON.parse(
      readFileSync(join(home.dataDir, "clickhouse.json"), "utf8"),
    );
    const clickhouseUrl = `${url.replace("://", `://${username}:${password}@`)}/weir`;
    let last = 0;
    let waited = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const told = await killed(dataDir, clickhouseUrl, last + 1, 60 + 40 * kill);
      const next = openBench({ dataDir, clickhouseUrl });
      waited += next.analytics.ledger.pending();
      const seqs = await seqsOf(next);
      await next.close();
      // One more act may have been committed and not told.
      last = seqs[0] ?? 0;
      expect([told, told + 3]).toContain(last);
      expect(seqs).toEqual(Array.from({ length: last }, (_, at) => last - at));
    }
    expect(waited, "no kill came before the acknowledgement").toBeGreaterThan(0);
    const all = settles(ORG, 1, last).reverse().map(shown);
    expect(await home.analytics.ledger.entriesOf(ORG, { limit: last + 1 })).toEqual(all);
    const clickhouse = clickhouseOf(home);
    const sql = "SELECT count() AS n, uniqExact(seq) AS seqs FROM ledger WHERE org_id = {org:String}";
    // Without FINAL: what may have been inserted already was looked up.
    expect(await clickhouse.rows(sql, { org: ORG })).toEqual([{ n: last, seqs: last }]);
    await clickhouse.close();
  } finally {
    await home.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
