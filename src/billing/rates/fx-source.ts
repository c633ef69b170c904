/**
 * The daily job that reads the day's rate from `FX_URL`. Two shapes of JSON are understood: `{"day", "usd_inr"}`, and that of the
 * public rate services, `{"date", "base": "USD", "rates": {"INR"}}`. What is not plausible is not taken.
 */

import { z } from "zod";
import { boundedBody } from "../../base/bounded-body.ts";
import type { Clock } from "../../base/clock.ts";
import { jsonIn } from "../../base/json.ts";
import { DAY_MS } from "../../base/time.ts";
import { type JobHandler, jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { type DayRate, dayOf, type FxTable } from "./fx-table.ts";
import { rateOf, rateText } from "./rate.ts";

export const readFx = jobKind({
  name: "billing.read_fx",
  payload: z.object({}),
  tries: 20,
  backoff: { firstMs: 60_000, mostMs: 3_600_000 },
  atOnce: 1,
  atOncePerLane: 1,
  leaseMs: 60_000,
});

const number = z.union([z.number(), z.string()]).transform(String);
const answer = z.union([
  z.object({ day: z.iso.date(), usd_inr: number }).transform(({ day, usd_inr }) => ({ day, text: usd_inr })),
  z
    .object({ date: z.iso.date(), base: z.literal("USD").default("USD"), rates: z.object({ INR: number }) })
    .transform(({ date, rates }) => ({ day: date, text: rates.INR })),
]);

const MOST_BYTES = 256 * 1024;
const TIMEOUT_MS = 10_000;
/** A day's rate that differs by more from the one before is a mistake until a person says otherwise. */
const MOST_CHANGE_PCT = 10n;

const ORDER = { key: "daily", lane: "installation", orgId: "", payload: {} };

/** In an act. */
export const beginToReadFx = (jobs: Pick<JobQueue, "enqueue">): void => jobs.enqueue(readFx, ORDER);

export interface FxSourceDeps {
  readonly fx: FxTable;
  readonly clock: Clock;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly url: string;
}

export const fxReader = ({ fx, clock, jobs, url }: FxSourceDeps): JobHandler<unknown> => ({
  async run(_payload, { signal }) {
    const found = await fetched(url, signal);
    const rate = rateFrom(found, fx.lastDated(), dayOf(clock.now()), new URL(url).host);
    return { act: () => fx.put(rate), againAtMs: clock.now() + DAY_MS / 4 };
  },
  gaveUp: () => jobs.enqueue(readFx, { ...ORDER, dueMs: clock.now() + DAY_MS / 4 }),
});

async function fetched(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: { accept: "application/json" },
  });
  if (!response.ok) throw new Error(`FX_URL answered ${response.status}`);
  const tooLong = () => new Error("FX_URL answered more than a rate");
  return (await boundedBody(response.body, MOST_BYTES, tooLong)).toString("utf8");
}

/** @param today `YYYY-MM-DD` @throws Error where the answer is no rate of a day that has begun, or not plausible */
export function rateFrom(text: string, before: DayRate | undefined, today: string, source: string): DayRate {
  const json = jsonIn(text);
  if (json === undefined) throw new Error("FX_URL did not answer with JSON");
  const parsed = answer.safeParse(json);
  if (!parsed.success) throw new Error("FX_URL answered without a day and a rate");
  const { day, text: rateGiven } = parsed.data;
  const rate = rateOf(rateGiven.replace(/^(\d+\.\d{8})\d+$/, "$1"));
  if (rate === undefined) throw new Error("FX_URL answered with something that is no rate");
  if (day > today) throw new Error(`FX_URL answered with a rate of ${day}, which is still to come`);
  const old = before === undefined ? undefined : rateOf(before.usdInr);
  if (old !== undefined && (rate > old ? rate - old : old - rate) * 100n > old * MOST_CHANGE_PCT) {
    throw new Error(
      `FX_URL answered ${rateText(rate)}, too far from the ${before?.usdInr} of ${before?.day}`,
    );
  }
  return { day, usdInr: rateText(rate), source };
}
