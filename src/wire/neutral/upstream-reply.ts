/** A whole upstream answer as a value. */
import { fail } from "../../base/errors.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no JSON. */
export function parseReply(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}
