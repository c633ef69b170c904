/**
 * Ids of calls as an upstream takes them, call and result alike. Some servers begin their ids anew each turn (`functions.f:0`),
 * and upstreams that match results by id refuse a conversation in which two calls share one: the second has a stand-in.
 */
import type { OrgKey } from "../format.ts";
import type { NeutralMessage, Part } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import { OpenCalls } from "../tool-kinds/open-calls.ts";
import type { Accepted, NameBound } from "./bounds.ts";
import { StandIns } from "./stand-ins.ts";

/** One conversation's ids, in the order in which they stand there. They are whole, no marks of a source. */
export class CallIds {
  readonly #standIns: StandIns;
  /** Calls so far, by id. */
  readonly #calls = new Map<string, number>();
  /** As they were told. */
  readonly #open = new OpenCalls<string>();

  /** @param all ids of the conversation */
  constructor(bound: NameBound, orgKey: OrgKey, all: () => Iterable<string>) {
    this.#standIns = new StandIns(orgKey, "call", bound, all);
  }

  /** What follows is said by the model, or by others. */
  by(isModel: boolean): void {
    this.#open.by(isModel);
  }

  /** The id of a call as the upstream is told it. */
  call(id: string): string {
    const before = this.#calls.get(id) ?? 0;
    this.#calls.set(id, before + 1);
    const told =
      before === 0 ? this.#standIns.of(id) : this.#standIns.replacing(id, JSON.stringify([id, before]));
    this.#open.call(id, told);
    return told;
  }

  /** The same of a result. */
  result(id: string): string {
    return this.#open.result(id) ?? this.#standIns.of(id);
  }
}

/** The conversation with ids that the upstream takes. */
export function withTakenIds(
  messages: readonly NeutralMessage[],
  { callId, sharesCallIds }: Accepted,
  orgKey: OrgKey,
  source: Source,
): readonly NeutralMessage[] {
  if (callId === undefined) return messages;
  const ids = new CallIds(callId, orgKey, () => idsOf(messages));
  const callOf = (id: string) => (sharesCallIds === true ? ids.result(id) : ids.call(id));
  return messages.map((message) => {
    const { role, parts } = message;
    if (role !== "system") ids.by(role === "assistant");
    if (!parts.some(isOfCall)) return message;
    return {
      ...message,
      parts: parts.map((part): Part => {
        if (part.type === "tool_call") return { ...part, id: callOf(source.whole(part.id)) };
        return part.type === "tool_result" ? { ...part, id: ids.result(source.whole(part.id)) } : part;
      }),
    };
  });
}

const isOfCall = ({ type }: Part): boolean => type === "tool_call" || type === "tool_result";

function* idsOf(messages: readonly NeutralMessage[]): Iterable<string> {
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === "tool_call" || part.type === "tool_result") yield part.id;
  }
}
