/** Waiting with an end. */
import { inTime } from "../../base/clock.ts";

/** Whether the promise was fulfilled within the time. Rejects as it does, if that comes first. */
export const within = (ms: number, promise: Promise<unknown>): Promise<boolean> =>
  inTime(
    promise.then(() => true),
    Math.max(0, ms),
    () => false,
  );
