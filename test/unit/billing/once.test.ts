/**
 * Once: webhooks, return pages, polls and people at the same time, in any order, over a gateway that dies at any write. Each slice
 * has a seed of its own; what fails is shrunk, and fails again with the seed and the path that fast-check prints.
 */
import fc from "fast-check";
import { describe, test } from "vitest";
import { checkOrg } from "./once.checks.ts";
import { LATER, type Life, lifeOf, live } from "./once.lives.ts";
import { everySchedule, MOST_MS, SLICES } from "./once.runs.ts";
import type { PayWorld } from "./once.world.ts";

async function liveAndCheck(world: PayWorld, life: Life): Promise<void> {
  checkOrg(world, await live(world, life));
}

/** Ways to pay that end with money. */
const PAID = [["paid"], ["authorized"], ["processing"], ["twice"]];

describe("in any order, with a death at any write", () => {
  test.each(SLICES)(
    "a top-up that is paid is credited once: one invoice, one event, one mail (slice %i)",
    async (slice) => {
      await everySchedule(lifeOf(fc.constant([])), 1400 + slice, liveAndCheck);
    },
    MOST_MS,
  );

  test.each(SLICES)(
    "a refund moves money and credit once, whoever asks for it and however it ends (slice %i)",
    async (slice) => {
      const later = fc.array(fc.oneof(LATER.ask, LATER.ask, LATER.dashboard, LATER.spend), {
        minLength: 1,
        maxLength: 3,
      });
      await everySchedule(lifeOf(later as never, PAID), 1500 + slice, liveAndCheck);
    },
    MOST_MS,
  );

  test.each(SLICES)(
    "a dispute takes its credit once and gives it back once, among refunds (slice %i)",
    async (slice) => {
      const more = fc.oneof(LATER.dispute, LATER.ask, LATER.dashboard, LATER.spend);
      const later = fc
        .tuple(LATER.dispute, fc.array(more, { maxLength: 2 }))
        .map(([first, rest]) => [first, ...rest]);
      await everySchedule(lifeOf(later as never, PAID), 1600 + slice, liveAndCheck);
    },
    MOST_MS,
  );
});
