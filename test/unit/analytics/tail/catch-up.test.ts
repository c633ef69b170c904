/** What a client that comes back is sent of the past: nothing is read for one that has left while others were read for. */
import pLimit from "p-limit";
import { expect, test } from "vitest";
import { CatchUp, type CatchUpDeps } from "../../../../src/analytics/tail/catch-up.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

test("a client that left while it waited has nothing read", async () => {
  let reads = 0;
  let isOver = false;
  const bytes = async () => {
    reads += 1;
    return [];
  };
  const limit = pLimit(1);
  const deps = {
    history: { budget: { of: () => ({ bytes }) }, clock: new ManualClock("2026-03-10T12:00:00Z") },
    limit,
    caller: { orgId: "org_1", environment: "live" },
    filters: {},
    client: {
      get isOver() {
        return isOver;
      },
      sendNow: async () => {},
    },
    textOf: () => "",
  } as unknown as CatchUpDeps;
  const held = Promise.withResolvers<void>();
  const others = limit(() => held.promise);
  const sent = new CatchUp(deps, { settledAtUs: 0, requestId: "" }).send();
  isOver = true;
  held.resolve();
  await Promise.all([others, sent]);
  expect(reads).toBe(0);
});
