/** A call whose cell is gone, with all that the call had said: its readers are told that it is over. */
import type { Broken } from "../../errors/broken-off.ts";
import { brokenOffEvent, wholeBrokenOff } from "../broken-off.ts";
import type { LoggedCall } from "../call-log.ts";
import { nextBehind, type ReadableCall } from "../read-log.ts";

/** How a call ends that went with its cell. */
export const howGone = ({ isInMemory }: LoggedCall): Broken => (isInMemory ? "unlogged" : "retired");

export function callOfGone(call: LoggedCall): ReadableCall {
  const how = howGone(call);
  return {
    call,
    events(last) {
      const next = nextBehind(last);
      return (async function* () {
        yield brokenOffEvent(call, next, how).bytes;
      })();
    },
    whole: async () => wholeBrokenOff(call, how),
    // It has ended.
    async cancel() {},
  };
}
