/** A background response whose call ended with its process: what is read of it from then on. */
import type { Charged } from "../../../wire/format.ts";
import { FORMATS } from "../../../wire/formats.ts";
import { BROKEN_OFF, type Broken } from "../errors/broken-off.ts";
import type { StoredResponse } from "./kept-rows.ts";

/** @param left as it was stored when its call was accepted @param charged undefined: nothing, or it is not known */
export function brokenOff(left: StoredResponse, how: Broken, charged?: Charged): StoredResponse {
  const { background } = left;
  const response =
    FORMATS.responses.background?.brokenOff(left.response, BROKEN_OFF[how], charged) ?? left.response;
  return background === undefined
    ? left
    : { ...left, response, background: { ...background, status: "failed" } };
}
