/** What the replay tests share: an engine with recorded calls, and a catalog of three hosts of one model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import type { WaitForInserts } from "../../../src/analytics/clickhouse/inserted-until.ts";
import { type Traffic, traffic } from "../../../src/analytics/usage/traffic.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { Endpoint, Model } from "../../../src/base/endpoint.ts";
import type { WeirError } from "../../../src/base/errors.ts";
import type { UnitPrices } from "../../../src/base/money.ts";
import { costOf, type Usage } from "../../../src/base/usage.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { readPolicy } from "../../../src/routing/language/policy-reading.ts";
import { openReplays, type ReplayDeps, type Replays } from "../../../src/routing/policies/replay/replay.ts";
import type { ReplayReport } from "../../../src/routing/policies/replay/replay-report.ts";
import { type Bench, clickhouseOf, openBench } from "../analytics/bench.ts";
import { attempt, ORG, record } from "../analytics/records.ts";
import { endpoint, model } from "../routing/fixtures.ts";
import { LIMIT_MS } from "../wait.ts";

export const DATA_POLICY = { zdr: false, noTrain: false, regions: [] };

/** An endpoint of `v/m`; prices in nano-USD a token. */
export const host = (id: string, input: number, output: number, more: Partial<UnitPrices> = {}): Endpoint => {
  const prices: UnitPrices = { version: `pv_${id}`, input, output, ...more };
  return endpoint(id, { prices, listPrices: prices, contextLength: 1_000_000, maxOutput: 100_000 });
};

export const DEAR = host("ep_dear", 1000, 4000, { cacheRead: 100 });
export const MIDDLE = host("ep_middle", 500, 2000);
export const CHEAP = host("ep_cheap", 250, 1000);
export const HOSTS: Model = model(DEAR, MIDDLE, CHEAP);

export interface Recorded extends Partial<Omit<CallRecord, "usage" | "cost">> {
  readonly usage?: Partial<Usage>;
}

/** A call as it would be recorded of the endpoint that served it, at its prices. */
export function served(at: Endpoint, change: Recorded = {}): CallRecord {
  const { usage: used, ...rest } = change;
  const usage: Usage = {
    inputTokens: 1000,
    outputTokens: 100,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    ...used,
  };
  return record({
    model: "v/m",
    endpointId: at.id,
    provider: at.provider.id,
    usage,
    cost: costOf(usage, at.prices),
    routeOptions: "",
    maxTokens: 0,
    stream: true,
    ttftMs: 300,
    attempts: [attempt({ endpointId: at.id, ttftMs: 300, tsMs: rest.tsMs ?? Date.now() })],
    ...rest,
  });
}

/** A call that was refused before any endpoint was tried. */
export const refused = (errorCode: string, change: Recorded = {}): CallRecord =>
  served(DEAR, {
    status: "rejected",
    errorCode,
    endpointId: "",
    usage: { inputTokens: 0, outputTokens: 0 },
    usageSource: "none",
    ttftMs: 0,
    attempts: [],
    ...change,
  });

export interface TrafficBench {
  readonly bench: Bench;
  readonly client: ClickHouseClient;
  readonly traffic: Traffic;
  /** The same, read by one that waits in another way. */
  trafficAfter(waitForInserts: WaitForInserts): Traffic;
  /** Recorded, and in ClickHouse when it resolves. */
  add(records: readonly CallRecord[]): Promise<void>;
  close(): Promise<void>;
}

export async function openTraffic(): Promise<TrafficBench> {
  const bench = openBench();
  await bench.analytics.flush(LIMIT_MS);
  await bench.add([record({ orgId: "org_first_contact" })]);
  await bench.analytics.flush(LIMIT_MS);
  const { url, username, password } = JSON.parse(
    readFileSync(join(bench.dataDir, "clickhouse.json"), "utf8"),
  );
  const log = { level: ClickHouseLogLevel.OFF };
  const client = createClient({ url, username, password, database: "weir", log });
  const clickhouse = clickhouseOf(bench);
  const trafficAfter = (waitForInserts: WaitForInserts) =>
    traffic({
      clickhouse: {
        rows: (sql, params) => clickhouse.rows(sql, params),
        bytes: (sql, params) => rowBinary(client, sql, params),
      },
      waitForInserts,
    });
  return {
    bench,
    client,
    trafficAfter,
    traffic: trafficAfter(async () => {
      await bench.analytics.flush(LIMIT_MS);
      return undefined;
    }),
    async add(records) {
      await bench.add([...records]);
      await bench.analytics.flush(LIMIT_MS);
    },
    async close() {
      await client.close();
      await clickhouse.close();
      await bench.close();
    },
  };
}

async function rowBinary(
  client: ClickHouseClient,
  sql: string,
  params: Record<string, unknown>,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const { stream } = await client.exec({ query: `${sql} FORMAT RowBinary`, query_params: params });
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of stream) pieces.push(new Uint8Array(chunk as Buffer));
  return pieces;
}

export const replaysOf = (
  from: Traffic,
  models: readonly Model[] = [HOSTS],
  more: Partial<ReplayDeps> = {},
): Replays =>
  openReplays({
    traffic: from,
    readPolicy: async (text, options) => readPolicy(text, options),
    modelsOf: () => models,
    projectSlugs: () => [["prj_01J00000000000000000000001", "front"]],
    clock: systemClock,
    ...more,
  });

/** One replay of a draft over the last day of an org. */
export const replay = (
  replays: Replays,
  yaml: string,
  more: Partial<Parameters<Replays["replay"]>[0]> = {},
): Promise<ReplayReport> =>
  replays.replay({
    orgId: ORG,
    dataPolicy: DATA_POLICY,
    yaml,
    name: "draft",
    version: 2,
    hours: 24,
    ...more,
  });

/** The kind of the error that an act fails with; `resolved` where it does not. */
export const kindOf = async (act: Promise<unknown>): Promise<string> =>
  await act.then(
    () => "resolved",
    (error: WeirError) => error.kind ?? String(error),
  );

/** Traffic whose first read waits until it is let go. */
export function held(traffic: Traffic): { letGo(): void; readonly traffic: Traffic } {
  const gate = Promise.withResolvers<void>();
  return {
    letGo: () => gate.resolve(),
    traffic: {
      ...traffic,
      summary: async (window) => {
        await gate.promise;
        return await traffic.summary(window);
      },
    },
  };
}
