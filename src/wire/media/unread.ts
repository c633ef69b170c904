/** Refuses parts of media that the neutral contract, and so every other format, has no place for. */
import { fail } from "../../base/errors.ts";
import { objectOf } from "../neutral/reader.ts";

/** Words in the types of parts that hold media, in any format. Calls of tools that a provider runs are none. */
const MEDIA_TYPE = /image|file|document|audio|video|pdf/i;
const CALL_TYPE = /call|search|result/i;
/** An item of a responses request that is a screenshot for a tool of the provider's. */
const SCREENSHOT = "computer_call_output";

/**
 * @param dropped pointers of what the neutral contract has no place for
 * @param body of the client, as a value
 * @throws WeirError 400 `capability_not_supported` if a part of a message that holds media, or a screenshot, is among it
 */
export function refuseUnread(dropped: readonly string[], body: unknown): void {
  let list = "";
  let parts: unknown;
  for (const at of dropped) {
    const place = at.lastIndexOf("/");
    const parent = at.slice(0, place);
    const isItem = parent === "/input";
    if (!isItem && !parent.endsWith("/content") && !parent.endsWith("/output")) continue;
    // A body may have a hundred thousand of them in one list.
    if (parent !== list) {
      list = parent;
      parts = valueAt(body, parent);
    }
    const { type } = objectOf(Array.isArray(parts) ? parts[Number(at.slice(place + 1))] : undefined);
    if (typeof type !== "string") continue;
    if (isItem ? type !== SCREENSHOT : !MEDIA_TYPE.test(type) || CALL_TYPE.test(type)) continue;
    const message = `${at}: a part of type ${JSON.stringify(type.slice(0, 100))} cannot be sent to this model's provider.`;
    throw fail("capability_not_supported", message, { param: at });
  }
}

/** By a pointer into lists and members of plain names. */
function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const key of pointer.slice(1).split("/")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
