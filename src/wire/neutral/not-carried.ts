/** The refusal of media that a dialect cannot carry: a model that never saw a picture must not answer as if it had. */
import { fail, type WeirError } from "../../base/errors.ts";
import type { DocumentPart, ImagePart, RecordingPart } from "./neutral.ts";

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

/** A 400 `capability_not_supported` that names a part of a kind that the model does not take. */
export const notTaken = ({ type, at }: MediaPart): WeirError =>
  fail("capability_not_supported", `${at}: this model takes no ${nounOf(type)}.`, { param: at });

const nounOf = (type: MediaPart["type"]): string => (type === "audio" ? "sound" : type);
