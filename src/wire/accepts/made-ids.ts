/**
 * Ids of calls that came without one. Each is made of the request's id, so that no other answer of the conversation has it, and of
 * the call's place.
 */
import type { NeutralChoice, NeutralReply, StreamEvent } from "../neutral/neutral.ts";

/** @param requestId the gateway's own */
export function withMadeIds(reply: NeutralReply, requestId: string): NeutralReply {
  if (!reply.choices.some(lacksId)) return reply;
  const choices = reply.choices.map(
    (choice, index): NeutralChoice => ({
      ...choice,
      parts: choice.parts.map((part, place) =>
        part.type === "tool_call" && part.id === "" ? { ...part, id: madeId(requestId, index, place) } : part,
      ),
    }),
  );
  return { ...reply, choices };
}

const lacksId = ({ parts }: NeutralChoice): boolean =>
  parts.some((part) => part.type === "tool_call" && part.id === "");

/** The same of an event of a stream. */
export function withMadeId(event: StreamEvent, requestId: string): StreamEvent {
  if (event.type !== "begin" || event.kind !== "tool_call" || event.id !== "") return event;
  return { ...event, id: madeId(requestId, event.choice, event.part) };
}

/** At most 40 characters in any real answer, which every dialect takes. @param place the call's among the parts of its choice */
export const madeId = (requestId: string, choice: number, place: number): string =>
  `call_${requestId}_${choice}_${place}`;
