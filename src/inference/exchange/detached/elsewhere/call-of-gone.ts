/** A call whose cell is gone, with all that the call had said: its readers are told that it is over. */
import { fail } from "../../../../base/errors.ts";
import { inParts } from "../../../../base/operation/body.ts";
import type { Broken } from "../../errors/broken-off.ts";
import { brokenOffEvents, wholeBrokenOff } from "../broken-off.ts";
import type { LoggedCall } from "../call-log.ts";
import { nextBehind } from "../read-log.ts";
import type { ReadableCall } from "../readable-call.ts";
import { callIn, type OtherCells } from "./messages.ts";

/** How a call ends that went with its cell. */
export const howGone = ({ isInMemory }: LoggedCall): Broken => (isInMemory ? "unlogged" : "retired");

/** The events by which it ends. @throws WeirError 503 where its response in the background is not known now */
export const lastOfGone = async (
  { failedResponse }: Pick<OtherCells, "failedResponse">,
  call: LoggedCall,
  next: number,
): Promise<Buffer> =>
  brokenOffEvents(call, next, { how: howGone(call), response: await failedResponse(call) }).bytes;

/** A call that no cell has, where it went with the one that did; undefined: it was forgotten. @throws WeirError 503 where that cannot be known now */
export async function goneCall(
  cells: Pick<OtherCells, "toldOf" | "fateOf" | "failedResponse">,
  id: string,
): Promise<ReadableCall | undefined> {
  try {
    const told = await cells.toldOf(id);
    if (told === undefined) return undefined;
    const call = callIn(told.content);
    const fate = await cells.fateOf(told.cell, told.life);
    if (call === undefined || fate.kind === "unknown") throw away();
    if (fate.kind === "retired") return callOfGone(cells, call);
    if (fate.kind === "over" && call.isInMemory) return callOfGone(cells, call);
    // The cell has the log once it runs again.
    if (fate.mayReturn) throw away();
    // The cell's newest life would have the log, for as long as logs are kept, and has just said that it has none.
    if (!call.isInMemory) return undefined;
  } catch {
    throw away();
  }
  // The cell counts as alive and does not have the call: how the cell stands may have been read before it died.
  throw away();
}

export const away = () =>
  fail("gateway_unavailable", "A gateway that may have this call cannot be reached now.", {
    retryAfterMs: 1000,
  });

async function* eventsOfGone(...of: Parameters<typeof lastOfGone>): AsyncGenerator<Buffer> {
  yield await lastOfGone(...of);
}

function callOfGone(cells: Pick<OtherCells, "failedResponse">, call: LoggedCall): ReadableCall {
  const how = howGone(call);
  return {
    call,
    isGone: true,
    tell: (last, client) => inParts(eventsOfGone(cells, call, nextBehind(last)))(client),
    whole: async () => wholeBrokenOff(call, how),
    // It has ended.
    async cancel() {},
  };
}
