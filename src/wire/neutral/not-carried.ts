/** The refusal of media that a dialect cannot carry: a model that never saw a picture must not answer as if it had. */
import { fail, type WeirError } from "../../base/errors.ts";
import type { DocumentPart, ImagePart, RecordingPart } from "./neutral.ts";
import { hasMark } from "./source.ts";

export type MediaPart = ImagePart | DocumentPart | RecordingPart;

/** A 400 `capability_not_supported` that names the part. The call is then tried at the next endpoint that may serve it. */
export function notCarried({ type, source, at }: MediaPart): WeirError {
  const how =
    source.kind === "url"
      ? ` by its address`
      : source.kind === "file"
        ? " by a provider's file id"
        : source.kind === "data"
          ? ` of type ${JSON.stringify(source.mediaType.slice(0, 100))}`
          : "";
  return fail(
    "capability_not_supported",
    `${at}: this model's provider takes no ${nounOf(type)}${how} here.`,
    {
      param: at,
    },
  );
}

/**
 * For dialects whose providers read addresses of the web alone. The others are of stores that only their own provider reads
 * (`gs://`, `s3://`). A long address is a mark, and is left to the provider.
 * @throws WeirError see {@link notCarried}
 */
export function refuseStores(part: MediaPart): void {
  const { source } = part;
  if (source.kind === "url" && !/^\s*https?:/i.test(source.url) && !hasMark(source.url))
    throw notCarried(part);
}

/** A 400 `capability_not_supported` that names a part of a kind that the model does not take. */
export const notTaken = ({ type, at }: MediaPart): WeirError =>
  fail("capability_not_supported", `${at}: this model takes no ${nounOf(type)}.`, { param: at });

const nounOf = (type: MediaPart["type"]): string => (type === "audio" ? "sound" : type);
