/** Once, for months: renewals that come late, twice, beside people who choose and pay, over a gateway that dies at any write. */
import { test } from "vitest";
import { liveMonths, months } from "./once.months.ts";
import { everySchedule, MOST_MS, SLICES } from "./once.runs.ts";

test.each(SLICES)(
  "a month is paid once, included once and told once, however late and often it is asked for (slice %i)",
  async (slice) => {
    await everySchedule(months, 1700 + slice, liveMonths);
  },
  MOST_MS,
);
