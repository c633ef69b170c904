/** A whole upstream answer as a value. */
import { fail } from "../../base/errors.ts";
import { NO_PATHS, type OpaquePaths } from "../json/opaque.ts";
import { parseCarrying } from "./carried.ts";

/** @param carries where JSON is left as text @throws WeirError `upstream_invalid_response` where the body is no JSON. */
export function parseReply(body: Buffer, carries: OpaquePaths = NO_PATHS): unknown {
  try {
    return parseCarrying(body.toString(), carries);
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}
