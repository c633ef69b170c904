/** Errors inside a stream of responses (OpenAI API reference, "Streaming events", `error`). */
import { errorEnvelope, type WeirError } from "../../base/errors.ts";
import { sseEvent } from "../neutral/sse.ts";

/**
 * The event of an error. It has our envelope's members beside its own: SDKs throw the `error` member if there is one, else
 * the event. Its number continues those of the events before it.
 */
export function responsesErrorEvent(error: WeirError, requestId: string, sequence = 0): string {
  const { code, message, param = null } = error;
  const event = JSON.stringify({ type: "error", sequence_number: sequence, code, message, param });
  return sseEvent("error", `${event.slice(0, -1)},${errorEnvelope(error, requestId).slice(1)}`);
}
