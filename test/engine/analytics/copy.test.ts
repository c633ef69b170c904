/** Rows on their way to ClickHouse beside copies: of the tables, for which they are held, and of the queue, whose rows may be there. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClickHouse, openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { type Engine, startEngine } from "../../../src/analytics/engine/engine.ts";
import { markCopied } from "../../../src/analytics/outbox/batch-queue.ts";
import { openOutbox } from "../../../src/analytics/outbox/outbox.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { openStore } from "../../../src/store/store.ts";
import { openBench } from "../../support/analytics/bench.ts";
import { put, settles } from "../../support/analytics/ledger.fixtures.ts";
import { recordsOf, silentLog, temporaryFolder } from "../../support/analytics/records.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const DATABASE = "copies";
let home: string;
let engine: Engine;
let clickhouse: ClickHouse;
/** The engine as a server by URL. */
let clickhouseUrl = "";

beforeAll(async () => {
  home = temporaryFolder();
  engine = startEngine(home, silentLog);
  const { url, username, password } = await engine.address(LIMIT_MS);
  const address = new URL(DATABASE, url);
  [address.username, address.password] = [username, password];
  clickhouseUrl = address.href;
  clickhouse = openClickHouse({ address: () => engine.address(LIMIT_MS), database: DATABASE });
  await clickhouse.ready();
});
afterAll(async () => {
  await clickhouse.close();
  await engine.stop();
  rmSync(home, { recursive: true, force: true });
});

const many = (n: number, one: () => CallRecord) => Array.from({ length: n }, one);
const all = (n: number) => [{ requests: n, distinct: n, payloads: n, usage: n }];

const counted = (of: string) =>
  clickhouse.rows(
    `SELECT (SELECT count() FROM requests WHERE org_id = {of:String}) AS requests,
      (SELECT uniqExact(request_id) FROM requests WHERE org_id = {of:String}) AS distinct,
      (SELECT count() FROM payloads WHERE org_id = {of:String}) AS payloads,
      (SELECT sum(requests) FROM usage_hourly WHERE org_id = {of:String}) AS usage`,
    { of },
  );

test("rows of a copied queue that the original has inserted already are not doubled, and the others arrive", async () => {
  const record = recordsOf("copied");
  const [both, one, later] = [many(20, record), many(10, record), many(5, record)];
  const original = openBench({ clickhouseUrl });
  await original.add(both);
  expect(await original.analytics.flush(LIMIT_MS)).toBe(true);
  await original.close();
  const dataDir = temporaryFolder();
  const store = openStore(dataDir);
  const outbox = openOutbox(store);
  await store.act(() => {
    for (const row of [...both, ...one]) outbox.add(row);
  });
  await store.act(() => markCopied(store, "outbox"));
  await store.close();
  const copy = openBench({ clickhouseUrl, dataDir });
  await copy.add(later);
  expect(await copy.analytics.flush(LIMIT_MS)).toBe(true);
  await copy.close();
  expect(await counted("copied")).toEqual(all(35));
});

test("while rows are held for a copy of the tables none goes there, and all do after it", async () => {
  const record = recordsOf("held");
  const bench = openBench({ clickhouseUrl });
  await bench.add(many(10, record));
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  const release = await bench.analytics.copy.hold(LIMIT_MS);
  await bench.add(many(10, record));
  const { ledger } = bench.analytics;
  await put(ledger, bench.store, settles("held", 1, 3));
  expect(await ledger.flush(200)).toBe(false);
  expect(await bench.analytics.flush(200)).toBe(false);
  expect(await counted("held")).toEqual(all(10));
  release();
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  expect(await counted("held")).toEqual(all(20));
  await bench.close();
});
