/** A background response whose call ended with its process: what is read of it from then on. */
import { FORMATS } from "../../../wire/formats.ts";
import { BROKEN_OFF, type Broken } from "../errors/broken-off.ts";
import type { StoredResponse } from "./kept-rows.ts";

/** @param left as it was stored when its call was accepted */
export function brokenOff(left: StoredResponse, how: Broken): StoredResponse {
  const { background } = left;
  const response = FORMATS.responses.background?.brokenOff(left.response, BROKEN_OFF[how]) ?? left.response;
  return background === undefined
    ? left
    : { ...left, response, background: { ...background, status: "failed" } };
}
