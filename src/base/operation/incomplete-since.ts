/** How an answer that is made of records of calls says from when on some of them may be missing. */
import { z } from "zod";
import { isoTime } from "../clock.ts";

/** Something that was made of records, of which the newest may not have been stored yet. */
export interface MayLackCalls {
  /**
   * The calls that are missing, if any is, ended at this time or later; milliseconds since 1970, and 0 where any call may be missing.
   * Undefined: no call is missing.
   */
  readonly missingSinceMs: number | undefined;
}

/** Field of such an answer. */
export const INCOMPLETE_SINCE = {
  incomplete_since: z
    .string()
    .optional()
    .describe(
      "Calls that ended from then on may be missing: a gateway did not say in time that their records are stored. Absent: none is missing.",
    ),
};

/** The field, or no field where no call is missing. @param sinceMs as in `MayLackCalls` */
export const incompleteSince = (sinceMs: MayLackCalls["missingSinceMs"]) =>
  sinceMs === undefined ? {} : { incomplete_since: isoTime(sinceMs) };

/** The same of a download, whose file is rows alone. */
export const incompleteHeader = (sinceMs: MayLackCalls["missingSinceMs"]): Record<string, string> =>
  sinceMs === undefined ? {} : { "x-svc-incomplete-since": isoTime(sinceMs) };
