/**
 * Ids of calls as an upstream takes them, call and result alike. Some servers begin their ids anew each turn (`functions.f:0`),
 * and upstreams that match results by id refuse a conversation in which two calls share one: the second has a stand-in.
 */
import type { OrgKey } from "../format.ts";
import type { NeutralMessage, Part } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import type { Accepted, NameBound } from "./bounds.ts";
import { StandIns } from "./stand-ins.ts";

/** Calls of one id in one turn that have no result yet, as they were told. */
interface Open {
  readonly turn: number;
  readonly told: string[];
  /** The first of them that has no result. */
  next: number;
}

/** One conversation's ids, in the order in which they stand there. They are whole, no marks of a source. */
export class CallIds {
  readonly #standIns: StandIns;
  /** Calls so far, by id. */
  readonly #calls = new Map<string, number>();
  readonly #open = new Map<string, Open>();
  /** Counts the changes from the user to the model. */
  #turn = 0;
  #isOfModel = false;

  /** @param all ids of the conversation */
  constructor(bound: NameBound, orgKey: OrgKey, all: () => Iterable<string>) {
    this.#standIns = new StandIns(orgKey, "call", bound, all);
  }

  /** What follows is said by the model, or by others. */
  by(isModel: boolean): void {
    if (isModel && !this.#isOfModel) this.#turn++;
    this.#isOfModel = isModel;
  }

  /** The id of a call as the upstream is told it. */
  call(id: string): string {
    const before = this.#calls.get(id) ?? 0;
    this.#calls.set(id, before + 1);
    const told =
      before === 0 ? this.#standIns.of(id) : this.#standIns.replacing(id, JSON.stringify([id, before]));
    const open = this.#open.get(id);
    if (open?.turn === this.#turn) open.told.push(told);
    else this.#open.set(id, { turn: this.#turn, told: [told], next: 0 });
    return told;
  }

  /** The same of a result. Results of calls that share an id come in the order of the calls. */
  result(id: string): string {
    const open = this.#open.get(id);
    if (open === undefined) return this.#standIns.of(id);
    const told = open.told[open.next] as string;
    if (open.next + 1 < open.told.length) open.next++;
    return told;
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
