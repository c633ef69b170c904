/** A whole answer: written as the response at the end of its stream, so that both are the same. */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { fragmentOf } from "../neutral/fragment.ts";
import type {
  MediaReplyPart,
  NeutralChoice,
  NeutralReply,
  ReplyPart,
  StreamEvent,
} from "../neutral/neutral.ts";
import type { ResponsesRequest } from "./request.ts";
import { ResponsesStreamWriter } from "./writer.ts";

export function writeResponsesReply(
  { choices }: NeutralReply,
  request: ResponsesRequest,
  identity: AnswerIdentity,
  usage: Usage,
  svc: SvcReply,
): string {
  const writer = new ResponsesStreamWriter(request, identity, true);
  const [choice] = choices;
  if (choice !== undefined) for (const event of eventsOf(choice)) writer.write(event);
  writer.close(usage, svc);
  return writer.responseJson() ?? "";
}

function eventsOf({ parts, stop, logprobs }: NeutralChoice): StreamEvent[] {
  const events = parts.flatMap((part, index) => partEvents(part, index));
  // Log probabilities of all texts together: they go to the first text.
  const first = events.findIndex(({ type }, index) => type === "delta" && isTextBegin(events[index - 1]));
  const delta = events[first];
  if (logprobs !== undefined && delta?.type === "delta") events[first] = { ...delta, logprobs };
  events.push({ type: "stop", choice: 0, stop });
  return events;
}

const isTextBegin = (event: StreamEvent | undefined): boolean =>
  event?.type === "begin" && event.kind === "text";

function partEvents(part: ReplyPart, index: number): StreamEvent[] {
  const place = { choice: 0, part: index };
  if (part.type === "media") return [{ type: "media", ...place, media: part }];
  const events: StreamEvent[] = [beginOf(part, index)];
  const text = part.type === "tool_call" ? part.arguments : part.text;
  if (text !== "") events.push({ type: "delta", ...place, text: fragmentOf(text) });
  if (part.type === "text") {
    for (const citation of part.citations ?? []) events.push({ type: "citation", ...place, citation });
  }
  if (part.type !== "refusal" && part.seal !== undefined) {
    events.push({ type: "seal", ...place, seal: part.seal });
  }
  events.push({ type: "end", ...place });
  return events;
}

function beginOf(part: Exclude<ReplyPart, MediaReplyPart>, index: number): StreamEvent {
  const place = { type: "begin" as const, choice: 0, part: index };
  if (part.type === "tool_call") {
    const { id, name, kind: tool, namespace } = part;
    return { ...place, kind: "tool_call", id, name, tool, namespace };
  }
  if (part.type !== "reasoning") return { ...place, kind: part.type };
  const { isSummary = false, isRedacted = false } = part;
  return { ...place, kind: "reasoning", isSummary, isRedacted };
}
