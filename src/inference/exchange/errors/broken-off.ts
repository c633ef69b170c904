/** The error of a call whose process was killed while it ran, or whose cell was retired. */
import { fail } from "../../../base/errors.ts";

export const BROKEN_OFF = fail(
  "gateway_unavailable",
  "The gateway that made this call ended before the call did. What it had said was charged.",
);
