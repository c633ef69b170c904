/**
 * Payloads that an org keeps no longer than it did: the analytics table knows when a payload ends by the policy of its own day, so
 * after a policy was shortened a job removes what is older. Answers do not show such payloads from the change on.
 */

import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import { DAY_MS } from "../base/time.ts";
import { jobKind } from "../store/jobs/job.ts";
import type { Jobs } from "../store/jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import type { AnalyticsErasure } from "./erasure.ts";

const applyRetention = jobKind({
  name: "analytics.retention",
  payload: z.object({}),
  tries: 1000,
  atOnce: 1,
  atOncePerLane: 1,
  backoff: { firstMs: 60_000, mostMs: 3_600_000 },
  leaseMs: 120_000,
});

/** Twice a day: what must be gone within a day is. */
const EVERY_MS = DAY_MS / 2;
/** The start has other things to do. */
const FIRST_MS = 10 * 60_000;
const AGAIN_MS = 10_000;

export interface RetentionDeps {
  readonly erasure: Pick<AnalyticsErasure, "oldestPayloads" | "removePayloads">;
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  readonly store: Pick<Store, "act">;
  /** Days for which an org keeps payloads now. */
  readonly retentionDays: (orgId: string) => number;
}

/** Before the jobs start. Puts the one job of the installation, if it is not there. */
export async function handleRetention({
  erasure,
  clock,
  jobs,
  store,
  retentionDays,
}: RetentionDeps): Promise<void> {
  jobs.handle(applyRetention, {
    async run() {
      const nowMs = clock.now();
      const rules = (await erasure.oldestPayloads()).flatMap(({ orgId, beforeMs: oldestMs }) => {
        const beforeMs = nowMs - retentionDays(orgId) * DAY_MS;
        return oldestMs < beforeMs ? [{ orgId, beforeMs }] : [];
      });
      const isMore = await erasure.removePayloads(rules);
      return { againAtMs: nowMs + (isMore ? AGAIN_MS : EVERY_MS) };
    },
  });
  const order = { key: "installation", orgId: "", payload: {}, dueMs: clock.now() + FIRST_MS };
  await store.act(() => jobs.enqueue(applyRetention, order), { isOwed: true });
}
