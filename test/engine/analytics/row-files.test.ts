import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { RowFiles } from "../../../src/analytics/clickhouse/row-files.ts";
import { REQUEST_COLUMNS } from "../../../src/record/columns.ts";
import { insertableRow } from "../../../src/record/row.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { record, recordsOf, temporaryFolder } from "../../support/analytics/records.ts";
import { putAnalyticsTables } from "../../support/analytics-folder.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

describe("insertion into the embedded engine", () => {
  let home: string;
  let dataDir: string;
  let inbox: string;
  let bench: Bench;
  let clickhouse: ClickHouse | undefined;

  beforeEach(() => {
    home = temporaryFolder();
    // A name with everything that means something in a path or a text of ClickHouse.
    dataDir = join(home, "data 'of' [weir] & (ä), \\1");
    putAnalyticsTables(dataDir);
    inbox = join(dataDir, "clickhouse", "inbox");
  });
  afterEach(async () => {
    await clickhouse?.close();
    clickhouse = undefined;
    await bench.close();
    rmSync(home, { recursive: true, force: true });
  });

  const counts = async () => {
    clickhouse ??= clickhouseOf(bench);
    const [found] = await clickhouse.rows(
      `SELECT (SELECT count() FROM requests) AS requests, (SELECT count() FROM payloads) AS payloads,
        (SELECT sum(requests) FROM usage_hourly) AS usage`,
    );
    return found;
  };
  const records = (n: number) => Array.from({ length: n }, recordsOf("embedded"));

  it("takes rows from files, and leaves none: neither its own nor those of a process that was killed", async () => {
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, "0"), "half of a row");
    bench = openBench({ dataDir });
    expect(existsSync(inbox)).toBe(false);
    await bench.add(records(300));
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    expect(await counts()).toEqual({ requests: 300, payloads: 300, usage: 300 });
    expect(readdirSync(inbox)).toEqual([]);
  });

  it("leaves no files of cells that do not come back, once the engine starts anew", async () => {
    for (const name of ["inbox-weir-1", "inbox-weir-2", "inbox"]) {
      mkdirSync(join(dataDir, "clickhouse", name), { recursive: true });
      writeFileSync(join(dataDir, "clickhouse", name, "0"), "rows of an outbox");
    }
    const kept = join(dataDir, "clickhouse", "inboxes.txt");
    writeFileSync(kept, "no inbox");
    bench = openBench({ dataDir });
    const found = readdirSync(join(dataDir, "clickhouse"));
    expect(found.filter((name) => name.startsWith("inbox"))).toEqual(["inboxes.txt"]);
    await bench.add(records(3));
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    expect(await counts()).toEqual({ requests: 3, payloads: 3, usage: 3 });
  });

  it("is tried until the file can be written, and inserts each row once", async () => {
    bench = openBench({ dataDir });
    // As on a full disk: nothing can be created here.
    writeFileSync(inbox, "");
    await bench.add(records(20));
    await until(
      "inserts have failed",
      () => bench.analytics.metrics().insertFailures,
      (failures) => failures > 1,
    );
    rmSync(inbox);
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    expect(await counts()).toEqual({ requests: 20, payloads: 20, usage: 20 });
  });

  it("inserts what is more than a block as one part of each month, and completes it in every table under the same token", async () => {
    bench = openBench({ dataDir });
    await bench.add(records(1));
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    const own = clickhouseOf(bench, "weir", new RowFiles(join(dataDir, "clickhouse"), "inbox-test"));
    clickhouse = own;
    const rowsOf = (tsMs: number, rows: number) => {
      const row = insertableRow(bench.outbox.prepare(record({ orgId: "org_blocks", tsMs })).bytes);
      return new Array<Uint8Array>(rows).fill(row?.requests ?? new Uint8Array());
    };
    const [old, young] = [rowsOf(Date.UTC(2026, 0, 31, 23), 40_000), rowsOf(Date.UTC(2026, 1, 1, 1), 40_000)];
    // The engine died after the first month's part.
    for (const rows of [old, [...old, ...young], [...old, ...young]])
      await own.insert("requests", REQUEST_COLUMNS, [Buffer.concat(rows)], { token: "blocks", queryId: "b" });
    const found = await own.rows(
      `SELECT count() AS requests, uniqExact(_part) AS parts,
        (SELECT sum(requests) FROM usage_hourly WHERE org_id = 'org_blocks') AS usage
      FROM requests WHERE org_id = 'org_blocks'`,
    );
    expect(found).toEqual([{ requests: 80_000, parts: 2, usage: 80_000 }]);
  });

  it("merges parts in twenties, also in a folder of an earlier release", async () => {
    bench = openBench({ dataDir });
    await bench.add(records(1));
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    clickhouse = clickhouseOf(bench);
    const tables = await clickhouse.rows<{ name: string; create_table_query: string }>(
      "SELECT name, create_table_query FROM system.tables WHERE database = 'weir' AND engine LIKE '%MergeTree' ORDER BY name",
    );
    const merging = tables.filter((table) =>
      table.create_table_query.includes("min_parts_to_merge_at_once = 20, merge_selector_base = 20"),
    );
    expect(merging.map(({ name }) => name)).toEqual([
      "attempts_hourly",
      "ledger",
      "payloads",
      "requests",
      "shadow_runs",
      "usage_hourly",
      "usage_tags_daily",
    ]);
  });
});
