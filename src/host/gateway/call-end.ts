/** How a call ended, for the ledger: by its record, which the analytics have. */
import { WeirError } from "../../base/errors.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { CallEnd } from "../../credits/ledger/entries-of-request.ts";
import { endedAtMs, isCharged } from "../../record/record.ts";
import type { House } from "./house.ts";

/** @returns undefined where the caller may see no such record. It throws where records cannot be read */
export const callEndOf =
  ({ analytics }: Pick<House, "analytics">) =>
  async (caller: Caller, requestId: string): Promise<CallEnd | undefined> => {
    const record = await analytics.recordOf(caller, requestId).catch(noneIfNotFound);
    return record && { endedAtMs: endedAtMs(record), isCharged: isCharged(record) };
  };

function noneIfNotFound(error: unknown): undefined {
  // Where a cell that is gone may have it, the error has details: the ledger is looked through without it all the same.
  if (error instanceof WeirError && error.kind === "not_found") return undefined;
  throw error;
}
