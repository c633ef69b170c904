/**
 * What of an answer is content, as opposed to its preamble: a role, the announcement of an item, a block or a part that is still
 * empty, pings. Until content comes, another endpoint can answer instead (T14).
 */
import type { StreamEvent } from "../neutral/neutral.ts";

/** Whether an event has something that the model made: text, the name of a call, media, a signature. */
export function isContent(event: StreamEvent): boolean {
  switch (event.type) {
    case "delta":
      return event.text !== "" || event.logprobs !== undefined;
    case "begin":
      return event.kind === "tool_call";
    case "media":
    case "seal":
    case "citation":
      return true;
    default:
      return false;
  }
}
