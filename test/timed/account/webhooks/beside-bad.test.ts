/** How soon good receivers get an event, beside slow and dead ones and those that lead elsewhere. */
import { expect, test } from "vitest";
import { deliver, share } from "../../../crash/account/webhooks/delivery.ts";
import { amount } from "../../../support/effort.ts";
import { staysWithin } from "../../within.ts";

/** Less than half of what a slow receiver takes for an answer: whoever waits behind one is later. */
const P99_MS = 2_000;

test(
  "99 in 100 events that a living process makes are with a good receiver within two seconds",
  () =>
    staysWithin(P99_MS, async () => {
      const { calmMs } = await deliver();
      expect(calmMs.length).toBeGreaterThan(0);
      return share(calmMs, 0.99);
    }),
  amount(7_200_000, 600_000),
);
