/** Ledger entries on their way into ClickHouse and back: none lost, none twice, in the order of their numbers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { ClickHouse, QueryLimits } from "../../../src/analytics/clickhouse/client.ts";
import { LIMITS, queryBudget } from "../../../src/analytics/clickhouse/query-budget.ts";
import { type AnalyticsLedger, openAnalyticsLedger } from "../../../src/analytics/outbox/ledger.ts";
import type { OrgEntry } from "../../../src/analytics/outbox/ledger-rows.ts";
import { seededRandom, systemClock } from "../../../src/base/clock.ts";
import { LEDGER_KINDS, type LedgerKind } from "../../../src/credits/ledger/entry.ts";
import type { Store } from "../../../src/store/store.ts";
import { type Bench, clickhouseOf, openBench } from "../../support/analytics/bench.ts";
import { openLedger, put, settle, settles, shown, topUp } from "../../support/analytics/ledger.fixtures.ts";
import { silentLog } from "../../support/analytics/records.ts";
import { tempStore } from "../../support/credits/fixtures.ts";
import { rounds } from "../../support/effort.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

let bench: Bench;
let clickhouse: ClickHouse;
let ledger: AnalyticsLedger;

/** Another cell with a folder of its own. */
async function atCell<T>(act: (ledger: AnalyticsLedger, store: Store) => Promise<T>): Promise<T> {
  const temp = tempStore();
  const other = openLedger(temp.store, clickhouse);
  try {
    return await act(other, temp.store);
  } finally {
    await other.stop(1000);
    await temp.dispose();
  }
}

const insertedRows = (org: string) =>
  clickhouse.rows("SELECT count() AS n FROM ledger WHERE org_id = {org:String}", { org });

beforeAll(async () => {
  bench = openBench();
  await until("ClickHouse answers", () => bench.analytics.live());
  clickhouse = clickhouseOf(bench);
  ledger = bench.analytics.ledger;
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

describe("the table", () => {
  it("holds every member of an entry in its own column, also below zero", async () => {
    const posted: OrgEntry = {
      orgId: "org_d",
      seq: 2,
      kind: "dispute",
      amountMicroUsd: -3_000_000_000_000,
      createdAtMs: 1,
      balanceMicroUsd: Number.MIN_SAFE_INTEGER,
      refType: "t",
      refId: "i 'ä\\",
    };
    await put(ledger, bench.store, [settle("org_d", 1), posted]);
    expect(await ledger.flush(LIMIT_MS)).toBe(true);
    expect(await clickhouse.rows("SELECT * FROM ledger FINAL WHERE org_id = 'org_d' ORDER BY seq")).toEqual([
      {
        org_id: "org_d",
        seq: 1,
        kind: "settle",
        amount_micro: -7,
        balance_micro: -7,
        ts: "2026-02-03 04:05:06.790",
        request_id: "request-org_d-1",
        ref_type: "",
        ref_id: "",
      },
      {
        org_id: "org_d",
        seq: 2,
        kind: "dispute",
        amount_micro: -3_000_000_000_000,
        balance_micro: Number.MIN_SAFE_INTEGER,
        ts: "1970-01-01 00:00:00.001",
        request_id: "",
        ref_type: "t",
        ref_id: "i 'ä\\",
      },
    ]);
    expect(await ledger.entriesOf("org_d", { limit: 5 })).toEqual([posted, settle("org_d", 1)].map(shown));
  });

  it("takes a batch that comes again once, also where its first half alone is there", async () => {
    const temp = tempStore();
    const sent: number[] = [];
    // The engine takes the rows of the first insertion, and its answer is lost.
    let lost = 1;
    const forgetful = {
      rows: clickhouse.rows.bind(clickhouse),
      bytes: clickhouse.bytes.bind(clickhouse),
      ended: clickhouse.ended.bind(clickhouse),
      synced: clickhouse.synced.bind(clickhouse),
      insert: async (...given: Parameters<ClickHouse["insert"]>) => {
        const [table, columns, rows, target] = given;
        const parts = rows as readonly Uint8Array[];
        sent.push(parts.reduce((sum, part) => sum + part.length, 0));
        const first = lost-- > 0;
        await clickhouse.insert(table, columns, first ? parts.slice(0, parts.length / 2) : parts, target);
        if (first) throw new Error("the answer was lost");
      },
    };
    const retrying = openLedger(temp.store, forgetful as unknown as ClickHouse);
    await put(retrying, temp.store, settles("org_again", 1, 1500));
    expect(await retrying.flush(LIMIT_MS)).toBe(true);
    // The second time only those that were missing.
    expect(sent[1]).toBeLessThan((sent[0] ?? 0) * 0.7);
    expect(await insertedRows("org_again")).toEqual([{ n: 1500 }]);
    expect(retrying.metrics()).toEqual({ pending: 0, inserted: 1500, insertFailures: 1, setApart: 0 });
    await retrying.stop(1000);
    await temp.dispose();
  });
});

describe("the list of an org", () => {
  it("shows entries that two cells put, and that were put twice, once and in the order of their numbers", async () => {
    const org = "org_twice";
    await put(ledger, bench.store, [...settles(org, 4, 6), settle("org_twice_other", 7)]);
    await put(ledger, bench.store, settles(org, 4, 6));
    await atCell(async (other, store) => {
      await put(other, store, [topUp(org, 1), ...settles(org, 2, 4)]);
      expect(await other.flush(LIMIT_MS)).toBe(true);
    });
    // A list waits a second at most for what is on its way.
    expect(await ledger.flush(LIMIT_MS)).toBe(true);
    const all = [...settles(org, 2, 6).reverse(), topUp(org, 1)].map(shown);
    expect(await ledger.entriesOf(org, { limit: 100 })).toEqual(all);
    // Also before ClickHouse has merged the rows that are there twice.
    expect(await ledger.entriesOf(org, { limit: 4 })).toEqual(all.slice(0, 4));
    expect(await ledger.entriesOf(org, { limit: 3, before: 5 })).toEqual(all.slice(2, 5));
    expect(await ledger.entriesOf(org, { limit: 3, before: 1 })).toEqual([]);
    expect(await ledger.entriesOf("org_nobody", { limit: 3 })).toEqual([]);
  });

  it("C2: says between which entries numbers are missing, also where one is there twice", async () => {
    const org = "org_holes";
    await put(ledger, bench.store, [...settles(org, 3, 4), settle(org, 6), ...settles(org, 9, 12)]);
    await put(ledger, bench.store, [settle(org, 4), settle(org, 9)]);
    const holes = async (before: number, limit = 10, from = 0) =>
      (await ledger.holesOf(org, { before, from, limit })).map(({ older, newer }) => [older.seq, newer.seq]);
    const all = [
      [6, 9],
      [4, 6],
      [0, 3],
    ];
    expect(await holes(1000)).toEqual(all);
    expect([await holes(1000, 1), await holes(9), await holes(7), await holes(4), await holes(1)]).toEqual([
      all.slice(0, 1),
      all.slice(1),
      all.slice(1),
      all.slice(2),
      [],
    ]);
    expect([await holes(1000, 10, 4), await holes(1000, 10, 6), await holes(1000, 10, 9)]).toEqual([
      all.slice(0, 2),
      all.slice(0, 1),
      [],
    ]);
    const [newest] = await ledger.holesOf(org, { before: 1000, limit: 1 });
    const edge = ({ seq, amountMicroUsd, balanceMicroUsd, createdAtMs }: OrgEntry) => ({
      seq,
      amountMicroUsd,
      balanceMicroUsd,
      createdAtMs,
    });
    expect(newest).toEqual({ newer: edge(settle(org, 9)), older: edge(settle(org, 6)) });
    expect(await ledger.holesOf("org_nobody", { before: 10, limit: 5 })).toEqual([]);
  });

  it("has what was put just before: it waits until that is inserted", async () => {
    const temp = tempStore();
    // Without a list that asks for it, no batch is sent in this test's time.
    const patient = openLedger(temp.store, clickhouse, 600_000);
    let tries = 0;
    const has = async () => {
      const org = `org_just_${++tries}`;
      await put(patient, temp.store, settles(org, 1, 3));
      return isDeepStrictEqual(
        await patient.entriesOf(org, { limit: 5 }),
        settles(org, 1, 3).reverse().map(shown),
      );
    };
    // It waits for a second, which may be too short on a machine with much else to do.
    expect(await holdsUnlessCrowded(has)).toBe(true);
    await patient.stop(1000);
    await temp.dispose();
  });

  const SEED = Number(process.env.WEIR_SEED ?? Date.now() % 1_000_000);
  it(`equals a model, whatever was put, by whom and how often (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const below = (n: number) => Math.floor(random() * n);
    const orgs = [`org_${SEED}_a`, `org_${SEED}_b`];
    const made = orgs.map((org) => {
      const count = 50 + below(400);
      return Array.from({ length: count }, (_, at): OrgEntry => {
        if (random() < 0.9) return settle(org, at + 1, -below(1e9));
        const kind = LEDGER_KINDS.filter((one) => one !== "settle")[below(8)] ?? "grant";
        return { ...topUp(org, at + 1), kind } as OrgEntry;
      });
    });
    // Pieces in any order, some of them twice, at two cells; some are never put.
    const pieces = made.flatMap((entries) => {
      const cut: OrgEntry[][] = [];
      for (let at = 0; at < entries.length; at += cut.at(-1)?.length ?? 0) {
        cut.push(entries.slice(at, at + 1 + below(60)));
      }
      return cut;
    });
    const known = new Set<OrgEntry>();
    await atCell(async (other, store) => {
      for (const piece of pieces.sort(() => random() - 0.5)) {
        if (random() < 0.1) continue;
        for (const entry of piece) known.add(entry);
        if (random() < 0.7) await put(ledger, bench.store, piece);
        if (random() < 0.5) await put(other, store, piece);
        else await put(ledger, bench.store, piece);
      }
      expect(await other.flush(LIMIT_MS)).toBe(true);
    });
    expect(await ledger.flush(LIMIT_MS)).toBe(true);
    for (let round = 0; round < rounds(200); round++) {
      const at = below(2);
      const kind: LedgerKind | undefined = random() < 0.4 ? LEDGER_KINDS[below(9)] : undefined;
      const before = random() < 0.5 ? undefined : 1 + below(500);
      const limit = 1 + below(120);
      const expected = (made[at] ?? [])
        .filter((one) => known.has(one) && (kind ?? one.kind) === one.kind && one.seq < (before ?? 1e9))
        .reverse()
        .slice(0, limit);
      const page = { limit, before, kind };
      expect([page, await ledger.entriesOf(orgs[at] ?? "", page)]).toEqual([page, expected.map(shown)]);
    }
  });

  it("reads a small part of the entries for a page, of any kind", async () => {
    const fill = (org: string) =>
      clickhouse.command(`INSERT INTO ledger SELECT '${org}', number + 1, if(number % 150001 = 7, 'topup', 'settle'), -1, 5,
        toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), toString(number), '', '' FROM numbers(400000)`);
    for (const org of ["org_m1", "org_m2", "org_m3"]) await fill(org);
    const { url, username, password } = JSON.parse(
      readFileSync(join(bench.dataDir, "clickhouse.json"), "utf8"),
    );
    let read = 0;
    /** As the client asks, and counts. */
    const rows = async <T>(
      sql: string,
      params: Record<string, unknown> = {},
      limits?: QueryLimits,
    ): Promise<T[]> => {
      // A bound of rows would be held against all of the org's, not against what is read.
      expect(limits).toMatchObject({ readRows: 0, seconds: LIMITS.seconds, memoryBytes: LIMITS.memoryBytes });
      const search = new URLSearchParams({ database: "weir", output_format_json_quote_64bit_integers: "0" });
      for (const [name, value] of Object.entries(params)) {
        search.set(`param_${name}`, Array.isArray(value) ? `[${value}]` : String(value));
      }
      const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
      const answer = await fetch(`${url}/?${search}`, {
        method: "POST",
        headers,
        body: `${sql} FORMAT JSON`,
      });
      const { data, statistics } = (await answer.json()) as {
        data: T[];
        statistics: { rows_read: number };
      };
      read += statistics.rows_read;
      return data;
    };
    const temp = tempStore();
    const counting = openAnalyticsLedger({
      store: temp.store,
      clickhouse,
      budget: queryBudget({ rows, bytes: async () => [] }),
      clock: systemClock,
      log: silentLog,
    });
    const of = async (page: Parameters<AnalyticsLedger["entriesOf"]>[1]) => {
      read = 0;
      const seqs = (await counting.entriesOf("org_m2", page)).map(({ seq }) => seq);
      return { first: seqs[0], count: seqs.length, read };
    };
    const few = 60_000;
    const pages = [
      [{ limit: 100 }, { first: 400_000, count: 100 }],
      [
        { limit: 100, before: 200_000 },
        { first: 199_999, count: 100 },
      ],
      [
        { limit: 100, kind: "settle", before: 200_000 },
        { first: 199_999, count: 100 },
      ],
      [
        { limit: 100, kind: "topup" },
        { first: 300_010, count: 3 },
      ],
      [{ limit: 100, kind: "refund" }, { count: 0 }],
    ] as const;
    for (const [page, expected] of pages) {
      const found = await of(page);
      expect(found).toMatchObject(expected);
      expect(found.read, JSON.stringify(page)).toBeLessThan(few);
    }
    await counting.stop(1000);
    await temp.dispose();
  });

  it("is 503 while ClickHouse is away", async () => {
    const away = openBench({ clickhouseUrl: "http://127.0.0.1:1/weir" });
    await put(away.analytics.ledger, away.store, [settle("org_away", 1)]);
    const asked = away.analytics.ledger.entriesOf("org_away", { limit: 10 });
    await expect(asked).rejects.toMatchObject({ kind: "analytics_unavailable", status: 503 });
    expect(away.analytics.ledger.pending()).toBe(1);
    await away.close();
  });
});

test("the erasure of an org leaves its ledger, as it is money", async () => {
  await put(ledger, bench.store, settles("org_erased", 1, 3));
  expect(await ledger.flush(LIMIT_MS)).toBe(true);
  expect(await bench.analytics.erasure.erase("org_erased")).toBe(false);
  expect(await ledger.entriesOf("org_erased", { limit: 5 })).toHaveLength(3);
});
