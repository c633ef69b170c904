/** Once, for debits of mandates: over days, among people, payers and banks, with a gateway that dies at any write. */
import { afterAll, expect, test } from "vitest";
import { checkDebits, reached } from "./once.debits.checks.ts";
import { debits, liveDebits } from "./once.debits.ts";
import { everySchedule, MOST_MS, SLICES } from "./once.runs.ts";

afterAll(() => {
  if (process.env.WEIR_THOROUGH !== undefined) console.log(JSON.stringify(reached));
});

test.each(SLICES)(
  "a debit is announced, asked for, credited and told once, within its bounds (slice %i)",
  async (slice) => {
    await everySchedule(debits, 1800 + slice, async (world, life) => {
      checkDebits(world, await liveDebits(world, life));
    });
  },
  MOST_MS,
);

test("the schedules reach debits that are announced, paid, refused, refunded and disputed", () => {
  const { orgs, takings, paid, failed, notices, disputes, refunds } = reached;
  for (const some of [takings, paid, notices])
    expect(some, JSON.stringify(reached)).toBeGreaterThan(orgs / 3);
  for (const some of [failed, disputes, refunds])
    expect(some, JSON.stringify(reached)).toBeGreaterThan(orgs / 50);
});
