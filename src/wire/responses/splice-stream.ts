/**
 * A spliced responses stream: events are passed on unchanged, except that responses in them get our id and model. The last
 * event waits for the settlement.
 */
import { NONE } from "../../base/lists.ts";
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import { append } from "../json/append.ts";
import { applyEdits, latin1Json, memberOf, membersOf, setMember, skim, utf8Of } from "../json/json.ts";
import { opaquePaths } from "../json/opaque.ts";
import { passed } from "../json/passed-bytes.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { Passed } from "../neutral/frames/frame.ts";
import { wholeIn } from "../neutral/odd-events/whole-event.ts";
import { countOf, isObject, type JsonObject, listOf, objectOf, parsed, stringOf } from "../neutral/reader.ts";
import { answerEdits, type CallForm, idEdit, someNeedEdits } from "../relay/call-edits.ts";
import { asItCame, passedEvent, SplicedStream } from "../relay/captured-stream.ts";
import { svcJson } from "../svc.ts";
import { isLast } from "./kinds.ts";
import { ResponsesStreamReader } from "./reader.ts";
import { SequenceNumbers } from "./sequence-numbers.ts";
import { writeResponsesUsage } from "./usage.ts";

/** The last event, cut before and after its response. */
interface Last {
  readonly type: string;
  readonly before: string;
  readonly response: string;
  readonly after: string;
}

/** A call in an event of its own, by the types that have a `call_id`. */
const CALL_ITEM: CallForm = {
  paths: opaquePaths([["item"]]),
  types: ["function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"],
  id: "call_id",
  args: "arguments",
  isText: true,
};

/** Calls in a response. */
export const CALLS: CallForm = { ...CALL_ITEM, paths: opaquePaths([["output", "*"]]) };

/** No answer has so many such calls. */
const MAX_MADE = 1024;

export class ResponsesSpliceStream extends SplicedStream {
  protected readonly reader: ResponsesStreamReader;
  readonly #identity: AnswerIdentity;
  readonly #others: readonly (readonly [name: string, json: string])[];
  /** Undefined where the events keep the upstream's numbers. */
  readonly #numbers: SequenceNumbers | undefined;
  /** Ids of calls that came without one of their own, by the numbers of their items. */
  readonly #made = new Map<number, string>();
  #last: Last | undefined;
  #delivered: string | undefined;
  /** The number of the last event passed on; -1 before the first, and if the upstream sends no numbers. */
  #sequence = -1;
  /** The text of `out` after this position was not parsed. */
  #parsedTo = 0;

  /** @param others further members that responses get, JSON by name @param first number of the first event, where the gateway numbers them */
  constructor(
    identity: AnswerIdentity,
    others: Readonly<Record<string, string>> | undefined,
    first?: number,
  ) {
    super(identity);
    this.#identity = identity;
    this.#others = others === undefined ? NONE : Object.entries(others);
    this.#numbers = first === undefined ? undefined : new SequenceNumbers(first);
    this.reader = new ResponsesStreamReader(identity.maxEventBytes, this);
  }

  /** Events are patched by position, so one whose positions cannot be found counts as malformed. */
  parse(data: string): JsonObject | undefined {
    const event = parsed(data);
    if (event === undefined || !isObject(event.response)) return event;
    const response = responseIn(data);
    if (response === undefined) return undefined;
    if (this.hasBegun || !isLast(stringOf(event.type)) || !listOf(event.response.output).some(isSaid))
      return event;
    // What the response holds had no events, of which clients of streams put an answer together.
    this.reader.error = wholeIn(response);
    return undefined;
  }

  get nextSequence(): number {
    return this.#numbers?.next ?? (this.hasBegun ? this.#sequence + 1 : 0);
  }

  responseJson(): string | undefined {
    return this.#delivered === undefined ? undefined : utf8Of(this.#delivered);
  }

  close(usage: Usage, svc: SvcReply): string {
    const out = this.rest();
    if (this.#last === undefined) return this.#numbers?.numbered(out) ?? out;
    const { type, before, response, after } = this.#last;
    const { members } = skim(response);
    const edits = [setMember(response, members, "svc", svcJson(svc))];
    if (this.capture.usage === undefined) {
      edits.push(setMember(response, members, "usage", JSON.stringify(writeResponsesUsage(usage))));
    }
    this.#delivered = applyEdits(response, edits);
    const end = out + passedEvent(type, before + this.#delivered + after);
    return this.#numbers?.numbered(end) ?? end;
  }

  /** Called once a read, not once an event: the last of the unparsed events has the number. */
  protected override flush(): Buffer {
    const out = super.flush();
    // Its events are told from the answer on, in memory of their own: such a stream is kept as well.
    if (this.#numbers !== undefined) return this.#numbers.numberedBytes(out);
    if (out.length > this.#parsedTo) this.#sequence = lastNumberIn(out) ?? this.#sequence;
    this.#parsedTo = 0;
    return out;
  }

  protected pass(data: string, type: string, event: JsonObject): Passed | undefined {
    if (isObject(event.response)) {
      // The gateway has told it already.
      if (this.#numbers !== undefined && type === "response.created") return undefined;
      this.#passWhole(data, type, event);
      return undefined;
    }
    if (!this.hasBegun && isProvidersItem(event)) this.begin();
    this.#add(type, this.#withId(data, event), event);
    return asItCame(type);
  }

  /** The event that has a call as a whole, with an id where it has none of its own. */
  #withId(data: string, { item, output_index: index }: JsonObject): string {
    const at = countOf(index);
    if (this.madeId !== "" && this.#made.size < MAX_MADE) this.#made.set(at, this.madeId);
    this.madeId = "";
    const id = this.#made.get(at);
    if (id === undefined || !CALL_ITEM.types?.includes(stringOf(objectOf(item).type))) return data;
    return applyEdits(data, idEdit(data, CALL_ITEM, id));
  }

  /** An event that contains the response. */
  #passWhole(data: string, type: string, event: JsonObject): void {
    const { members } = skim(data);
    const member = memberOf(members, "response");
    if (member === undefined) return;
    const text = data.slice(member.valueStart, member.valueEnd);
    const response = this.#named(text, event.response);
    if (!this.reader.complete) {
      this.#add(type, applyEdits(data, [setMember(data, members, "response", response)]), event);
      return;
    }
    this.begin();
    const before = data.slice(0, member.valueStart);
    this.#last = { type, before, response, after: data.slice(member.valueEnd) };
  }

  /** A response with our id and model, and what the upstream did not get of the client's. */
  #named(response: string, value: unknown): string {
    const { members } = skim(response);
    const hasOddCalls = someNeedEdits(listOf(objectOf(value).output), CALLS);
    const edits = [
      setMember(response, members, "id", latin1Json(this.#identity.id)),
      setMember(response, members, "model", latin1Json(this.#identity.model)),
    ];
    for (const [name, json] of this.#others) edits.push(setMember(response, members, name, json));
    if (hasOddCalls) append(edits, answerEdits(response, CALLS, this.#identity.requestId, this.#made));
    return applyEdits(response, edits);
  }

  #add(type: string, data: string, event: JsonObject): void {
    this.add(passedEvent(type, data));
    this.#parsedTo = passed.length + this.out.length;
    if (typeof event.sequence_number === "number") this.#sequence = event.sequence_number;
  }
}

/** Whether an item begins that no other format has, such as a search that the provider runs: it is content. */
const isProvidersItem = ({ item }: JsonObject): boolean =>
  isObject(item) && !EMPTY_ITEMS.includes(stringOf(item.type));

/** Items that begin without content. */
const EMPTY_ITEMS: readonly string[] = ["message", "reasoning"];

/** Whether a finished item has content. */
const isSaid = (value: unknown): boolean =>
  isProvidersItem({ item: value }) ||
  listOf(objectOf(value).content).some((content) => {
    const { text, refusal } = objectOf(content);
    return stringOf(text) !== "" || stringOf(refusal) !== "";
  });

const NUMBER = '"sequence_number":';
const MOST_DIGITS = 20;

/** The number of the last event in a text; undefined if none has one. The event contains no other object. */
function lastNumberIn(events: Buffer): number | undefined {
  const at = events.lastIndexOf(NUMBER, undefined, "latin1");
  const from = at + NUMBER.length;
  const number =
    at < 0 ? Number.NaN : Number.parseInt(events.toString("latin1", from, from + MOST_DIGITS), 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The text of an event's response; undefined where positions in the two cannot be found. @param text JSON */
function responseIn(text: string): string | undefined {
  const members = membersOf(text);
  const member = members && memberOf(members, "response");
  const response = member && text.slice(member.valueStart, member.valueEnd);
  return response === undefined || membersOf(response) === undefined ? undefined : response;
}
