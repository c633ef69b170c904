/**
 * A spliced responses stream: events are passed on unchanged, except that responses in them get our id and model. The last
 * event waits for the settlement.
 */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import { applyEdits, memberOf, setMember, skim, utf8Of } from "../json/json.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { Passed } from "../neutral/delta-frame.ts";
import { isObject, type JsonObject, parsed } from "../neutral/reader.ts";
import { asItCame, passedEvent, SplicedStream } from "../relay/captured-stream.ts";
import { responseEdits, settledEdits } from "./patch.ts";
import { ResponsesStreamReader } from "./reader.ts";

/** The last event, cut before and after its response. */
interface Last {
  readonly type: string;
  readonly before: string;
  readonly response: string;
  readonly after: string;
}

export class ResponsesSpliceStream extends SplicedStream {
  protected readonly reader: ResponsesStreamReader;
  readonly #identity: AnswerIdentity;
  readonly #previousId: string | undefined;
  #last: Last | undefined;
  #delivered: string | undefined;
  /** The number of the last event passed on; -1 before the first, and if the upstream sends no numbers. */
  #sequence = -1;
  /** The text of `out` after this position was not parsed. */
  #parsedTo = 0;

  /** @param previousId the client's `previous_response_id` */
  constructor(identity: AnswerIdentity, previousId: string | undefined) {
    super(identity.maxCaptureBytes);
    this.#identity = identity;
    this.#previousId = previousId;
    this.reader = new ResponsesStreamReader(identity.maxEventBytes, this);
  }

  /** Events are patched by position, so one whose positions cannot be found counts as malformed. */
  parse(data: string): JsonObject | undefined {
    const event = parsed(data);
    return event === undefined || !isObject(event.response) || isSkimmable(data) ? event : undefined;
  }

  get nextSequence(): number {
    return this.hasBegun ? this.#sequence + 1 : 0;
  }

  responseJson(): string | undefined {
    return this.#delivered === undefined ? undefined : utf8Of(this.#delivered);
  }

  close(usage: Usage, svc: SvcReply): string {
    const out = this.rest();
    if (this.#last === undefined) return out;
    const { type, before, response, after } = this.#last;
    const { members } = skim(response);
    const hasUsage = this.capture.usage !== undefined;
    this.#delivered = applyEdits(response, settledEdits(response, members, hasUsage, usage, svc));
    return out + passedEvent(type, before + this.#delivered + after);
  }

  /** Called once a read, not once an event: the last of the unparsed events has the number. */
  protected override flush(): string {
    const out = super.flush();
    if (out.length > this.#parsedTo) this.#sequence = lastNumberIn(out) ?? this.#sequence;
    this.#parsedTo = 0;
    return out;
  }

  protected pass(data: string, type: string, event: JsonObject): Passed | undefined {
    if (isObject(event.response)) {
      this.#passWhole(data, type, event);
      return undefined;
    }
    this.begin();
    this.#add(type, data, event);
    return asItCame(type);
  }

  /** An event that contains the response. */
  #passWhole(data: string, type: string, event: JsonObject): void {
    const { members } = skim(data);
    const member = memberOf(members, "response");
    if (member === undefined) return;
    const text = data.slice(member.valueStart, member.valueEnd);
    const edits = responseEdits(text, skim(text).members, this.#identity, this.#previousId);
    const response = applyEdits(text, edits);
    if (!this.reader.complete) {
      this.#add(type, applyEdits(data, [setMember(data, members, "response", response)]), event);
      return;
    }
    this.begin();
    const before = data.slice(0, member.valueStart);
    this.#last = { type, before, response, after: data.slice(member.valueEnd) };
  }

  #add(type: string, data: string, event: JsonObject): void {
    this.add(passedEvent(type, data));
    this.#parsedTo = this.out.length;
    if (typeof event.sequence_number === "number") this.#sequence = event.sequence_number;
  }
}

const NUMBER = '"sequence_number":';

/** The number of the last event in a text; undefined if none has one. The event contains no other object. */
function lastNumberIn(events: string): number | undefined {
  const at = events.lastIndexOf(NUMBER);
  const number =
    at < 0 ? Number.NaN : Number.parseInt(events.slice(at + NUMBER.length, at + NUMBER.length + 20), 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Whether the positions in an event and in its response can be found. @param text JSON */
function isSkimmable(text: string): boolean {
  try {
    const member = memberOf(skim(text).members, "response");
    if (member !== undefined) skim(text.slice(member.valueStart, member.valueEnd));
    return true;
  } catch {
    return false;
  }
}
