/** Answers given back in the client's own terms: tools that the upstream was told under another name have their own again. */
import type { OwnTool, OwnTools } from "../format.ts";
import type { NeutralChoice, NeutralReply, ReplyPart, StreamEvent } from "../neutral/neutral.ts";

/** @param own undefined where every tool was told as the client named it */
export function ownReply(reply: NeutralReply, own: OwnTools | undefined): NeutralReply {
  if (own === undefined) return reply;
  const choices = reply.choices.map(
    (choice): NeutralChoice => ({ ...choice, parts: choice.parts.map((part) => ownPart(part, own)) }),
  );
  return { ...reply, choices };
}

function ownPart(part: ReplyPart, own: OwnTools): ReplyPart {
  const tool = part.type === "tool_call" ? own.get(part.name) : undefined;
  return tool === undefined ? part : named(part, tool);
}

/** An event of a stream; only the beginning of a call names a tool. */
export function ownEvent(event: StreamEvent, own: OwnTools): StreamEvent {
  if (event.type !== "begin" || event.kind !== "tool_call") return event;
  const tool = own.get(event.name);
  return tool === undefined ? event : named(event, tool);
}

const named = <T>(call: T, { name }: OwnTool): T => ({ ...call, name });
