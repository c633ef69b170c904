/**
 * A chat-completions request in neutral terms. Every member is either carried or named in `dropped`, except
 * `stream_options` and `store`, which concern only the gateway.
 */

import { listAt, objectAt } from "../neutral/fields.ts";
import type { NeutralRequest } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import { readMessages } from "./neutral-messages.ts";
import { KNOWN_OPTIONS, readOptions } from "./neutral-options.ts";
import { dropOthers, type Reading } from "./neutral-reading.ts";
import { readTools } from "./neutral-tools.ts";
import type { ChatRequest } from "./request.ts";

/**
 * @param source of the request's own bytes; its marks stay in the strings.
 * @throws WeirError `invalid_value` with a JSON pointer to the field at fault.
 */
export function chatNeutral(request: ChatRequest, source: Source): NeutralRequest {
  const body = objectAt(source.value, "");
  const reading: Reading = { source, dropped: [] };
  const messages = readMessages(reading, listAt(body.messages, "/messages"));
  const tools = readTools(reading, body);
  const options = readOptions(reading, body);
  dropOthers(reading, body, "", KNOWN_OPTIONS);
  return { stream: request.facts.stream, messages, tools, options, dropped: reading.dropped };
}
