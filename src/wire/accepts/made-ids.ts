/**
 * Ids of calls that came without one, or with the id of a call before it in the same answer: clients match results by the id, and
 * Anthropic refuses a conversation in which two calls share one. Each is made of the request's id, so that no other answer of the
 * conversation has it, and of the call's place.
 */
import type { NeutralReply, ReplyPart, StreamEvent } from "../neutral/neutral.ts";

export type CallBegin = Extract<StreamEvent, { type: "begin"; kind: "tool_call" }>;

/** Later ones are taken as they are: no answer has so many. */
const MAX_CALLS = 1024;

/** The ids of one answer's calls, in order. */
export class AnswerIds {
  readonly #requestId: string;
  /** By choice. Each is a conversation of its own. */
  readonly #seen: (Set<string> | undefined)[] = [];

  /** @param requestId the gateway's own */
  constructor(requestId: string) {
    this.#requestId = requestId;
  }

  /** The event that begins a call, with an id that clients can use. */
  of(event: CallBegin): CallBegin {
    const id = this.#taken(event.id, event.choice, event.part);
    return id === event.id ? event : { ...event, id };
  }

  /** The same of a whole answer. */
  ofReply(reply: NeutralReply): NeutralReply {
    const choices = reply.choices.map((choice, index) => ({
      ...choice,
      parts: choice.parts.map((part, place): ReplyPart => {
        if (part.type !== "tool_call") return part;
        const id = this.#taken(part.id, index, place);
        return id === part.id ? part : { ...part, id };
      }),
    }));
    return { ...reply, choices };
  }

  #taken(id: string, choice: number, place: number): string {
    this.#seen[choice] ??= new Set();
    const seen = this.#seen[choice];
    if (id === "" || seen.has(id)) return madeId(this.#requestId, choice, place);
    if (seen.size < MAX_CALLS) seen.add(id);
    return id;
  }
}

/** At most 40 characters in any real answer, which every dialect takes. @param place the call's among the parts of its choice */
export const madeId = (requestId: string, choice: number, place: number): string =>
  `call_${requestId}_${choice}_${place}`;
