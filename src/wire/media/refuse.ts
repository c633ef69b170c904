/** Refusals of media that a dialect cannot carry: a model that never saw a picture must not answer as if it had. */
import { fail, type WeirError } from "../../base/errors.ts";
import type { DocumentPart, ImagePart, RecordingPart } from "../neutral/neutral.ts";
import { objectOf } from "../neutral/reader.ts";

export type MediaPart = ImagePart | DocumentPart | RecordingPart;

/** A 400 `capability_not_supported` that names the part. The call is then tried at the next endpoint that may serve it. */
export function notCarried({ type, source, at }: MediaPart): WeirError {
  const what = type === "audio" ? "sound" : type;
  const how =
    source.kind === "url"
      ? ` by its address`
      : source.kind === "file"
        ? " by a provider's file id"
        : source.kind === "data"
          ? ` of type ${JSON.stringify(source.mediaType.slice(0, 100))}`
          : "";
  return fail("capability_not_supported", `${at}: this model's provider takes no ${what}${how} here.`, {
    param: at,
  });
}

/** Words in the types of parts that hold media, in any format. Calls of tools that a provider runs are none. */
const MEDIA_TYPE = /image|file|document|audio|video|pdf/i;
const CALL_TYPE = /call|search|result/i;

/**
 * @param dropped pointers of what the neutral contract has no place for
 * @param body of the client, as a value
 * @throws WeirError 400 `capability_not_supported` if a part of a message that holds media is among it
 */
export function refuseUnread(dropped: readonly string[], body: unknown): void {
  for (const at of dropped) {
    if (!/\/(?:content|output)\/\d+$/.test(at)) continue;
    const { type } = objectOf(valueAt(body, at));
    if (typeof type !== "string" || !MEDIA_TYPE.test(type) || CALL_TYPE.test(type)) continue;
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
