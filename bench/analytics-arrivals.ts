/** Records of calls that come in at a steady rate, as settling puts them into the outbox. */

import { seededOrg } from "../scripts/seed-requests.ts";
import type { Outbox } from "../src/analytics/outbox/outbox.ts";
import { seededRandom, systemClock } from "../src/base/clock.ts";
import { requestId } from "../src/base/ids.ts";
import { LAYOUT, readRecord } from "../src/record/columns.ts";
import type { CallRecord } from "../src/record/record.ts";
import { RowBinaryReader } from "../src/record/row-binary.ts";
import type { Store } from "../src/store/store.ts";

const EVERY_MS = 20;
/** Every column empty or 0. */
const EMPTY = readRecord(new RowBinaryReader(new Uint8Array(1024), 0), LAYOUT);

interface Arrivals {
  readonly outbox: Outbox;
  readonly store: Store;
  readonly orgs: number;
  /** Records a second. */
  readonly rate: number;
}

export function startArrivals({ outbox, store, orgs, rate }: Arrivals) {
  const random = seededRandom(2);
  const startedMs = systemClock.monotonic();
  let put = 0;
  let mostWaiting = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((systemClock.monotonic() - startedMs) / 1000) * rate) - put;
    const prepared = Array.from({ length: Math.max(0, due) }, () => outbox.prepare(aRecord(orgs, random)));
    put += prepared.length;
    void store.act(() => {
      for (const one of prepared) outbox.put(one);
    });
    mostWaiting = Math.max(mostWaiting, outbox.pending());
  }, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      const seconds = (systemClock.monotonic() - startedMs) / 1000;
      return { perSecond: Math.round(put / seconds), mostWaiting, waiting: outbox.pending() };
    },
  };
}

function aRecord(orgs: number, random: () => number): CallRecord {
  const tsMs = systemClock.now();
  const org = Math.floor(orgs * random() ** 3);
  const key = Math.floor(40 * random() ** 2);
  return {
    ...EMPTY,
    requestId: requestId(tsMs),
    tsMs,
    orgId: seededOrg(org),
    environment: "live",
    projectId: `prj_${org}_${key % 8}`,
    keyId: `key_${org}_${key}`,
    cell: "cell-1",
    dialectIn: "chat",
    model: `vendor-${key % 9}/model-${key}`,
    provider: `provider-${key % 12}`,
    endpointId: `ep_${key}`,
    status: "ok",
    httpStatus: 200,
    stopReason: "stop",
    usageSource: "provider",
    charged: true,
    usage: {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    },
    cost: { total_micro_usd: 60, lines: [], price_version: "pv" },
    durationMs: 900,
    settledAtUs: (tsMs + 900) * 1000,
    tags: { team: `team-${key % 8}`, customer: `customer-${Math.floor(5000 * random() ** 3)}` },
    payloadState: "off",
    redact: { presets: [], patterns: [] },
    retentionDays: 30,
  };
}
