/** Whether a process that stood still may go on. */
import { expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { Wakefulness } from "../../../../../src/cluster/cells/membership/wakefulness.ts";

test("a cell that cannot catch up says so at once, and leaves the event loop to others", async () => {
  const awake = new Wakefulness({
    clock: systemClock,
    catchUp: () => Promise.reject(new Error("this process may not go on")),
  });
  awake.missed();
  expect(await awake.currentSoon()).toBe(false);
});

test("who asks after a gap waits until the cell has caught up", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const awake = new Wakefulness({ clock: systemClock, catchUp: () => promise });
  awake.missed();
  const asked = [awake.currentSoon(), awake.currentSoon()];
  expect(awake.isCurrent()).toBe(false);
  resolve();
  expect(await Promise.all(asked)).toEqual([true, true]);
});
