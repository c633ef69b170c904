/**
 * Refuses media that the model has no eyes or ears for. An endpoint is planned by what a request calls its parts; what a part holds is
 * known when it is written, and a file may be an image.
 */
import type { Capabilities } from "../../base/endpoint.ts";
import type { NeutralMessage } from "../neutral/neutral.ts";
import { type MediaPart, notTaken } from "../neutral/not-carried.ts";
import { isMedia } from "./fit.ts";

/** @throws WeirError 400 `capability_not_supported` naming the first part */
export function refuseUnseen(messages: readonly NeutralMessage[], can: Capabilities): void {
  if (can.vision && can.audio) return;
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === "tool_result") {
        for (const inner of part.parts) if (isMedia(inner)) refuse(inner, can);
      } else if (isMedia(part)) refuse(part, can);
    }
  }
}

function refuse(part: MediaPart, { vision, audio }: Capabilities): void {
  if ((part.type === "image" && !vision) || (part.type === "audio" && !audio)) throw notTaken(part);
}
