/** What an answer that is made of records of calls says where some may be missing: from when on. */
import { z } from "zod";
import { isoTime } from "./clock.ts";

/** Field of such an answer. */
export const INCOMPLETE_SINCE = {
  incomplete_since: z
    .string()
    .optional()
    .describe(
      "Calls that ended from then on may be missing: a gateway did not say in time that their records are stored. Absent: none is missing.",
    ),
};

/** The field, or nothing where none is missing. @param sinceMs milliseconds since 1970 (0: any may be missing); undefined: none is */
export const incompleteSince = (sinceMs: number | undefined) =>
  sinceMs === undefined ? {} : { incomplete_since: isoTime(sinceMs) };
