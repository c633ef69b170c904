/** A call whose cell is gone, with all that the call had said: its readers are told that it is over. */
import type { Broken } from "../../errors/broken-off.ts";
import { brokenOffEvents, wholeBrokenOff } from "../broken-off.ts";
import type { LoggedCall } from "../call-log.ts";
import { nextBehind } from "../read-log.ts";
import type { ReadableCall } from "../readable-call.ts";
import type { OtherCells } from "./messages.ts";

/** How a call ends that went with its cell. */
export const howGone = ({ isInMemory }: LoggedCall): Broken => (isInMemory ? "unlogged" : "retired");

/** The events by which it ends. @throws WeirError 503 where its response in the background is not known now */
export const lastOfGone = async (
  { failedResponse }: Pick<OtherCells, "failedResponse">,
  call: LoggedCall,
  next: number,
): Promise<Buffer> =>
  brokenOffEvents(call, next, { how: howGone(call), response: await failedResponse(call) }).bytes;

export function callOfGone(cells: Pick<OtherCells, "failedResponse">, call: LoggedCall): ReadableCall {
  const how = howGone(call);
  return {
    call,
    isGone: true,
    tell(last, client) {
      const next = nextBehind(last);
      lastOfGone(cells, call, next).then(
        (events) => {
          client.write(events);
          client.end();
        },
        (error: unknown) => client.fail(error),
      );
    },
    whole: async () => wholeBrokenOff(call, how),
    // It has ended.
    async cancel() {},
  };
}
