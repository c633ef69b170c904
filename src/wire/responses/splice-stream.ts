/**
 * A responses stream, spliced: events pass as they came, but for our id and model where an event holds the response. The
 * last waits for the settlement.
 */
import type { Usage } from "../../usage.ts";
import { passedEvent, SplicedStream } from "../captured-stream.ts";
import type { SvcReply } from "../contract.ts";
import type { AnswerIdentity } from "../format.ts";
import { applyEdits, memberOf, setMember, skim, utf8Of } from "../json.ts";
import { isObject, type JsonObject } from "../reader.ts";
import { responseEdits, settledEdits } from "./patch.ts";
import { ResponsesStreamReader } from "./reader.ts";

/** The last event, cut where its response stands. */
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

  /** @param previousId `previous_response_id` as the client gave it. */
  constructor(identity: AnswerIdentity, previousId: string | undefined) {
    super(identity.maxCaptureBytes);
    this.#identity = identity;
    this.#previousId = previousId;
    this.reader = new ResponsesStreamReader(identity.maxEventBytes, this);
  }

  /** Patched by position: an event must be what the positions are found by, too. */
  accepts(event: JsonObject, data: string): boolean {
    return !isObject(event.response) || isSkimmable(data);
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

  protected pass(data: string, type: string, event: JsonObject): void {
    if (!isObject(event.response)) {
      this.begin();
      this.add(passedEvent(type, data));
      return;
    }
    const { members } = skim(data);
    const member = memberOf(members, "response");
    if (member === undefined) return;
    const text = data.slice(member.valueStart, member.valueEnd);
    const edits = responseEdits(text, skim(text).members, this.#identity, this.#previousId);
    const response = applyEdits(text, edits);
    if (!this.reader.complete) {
      this.add(passedEvent(type, applyEdits(data, [setMember(data, members, "response", response)])));
      return;
    }
    this.begin();
    const before = data.slice(0, member.valueStart);
    this.#last = { type, before, response, after: data.slice(member.valueEnd) };
  }
}

/** Whether positions are found in an event, and in its response. @param text JSON */
function isSkimmable(text: string): boolean {
  try {
    const member = memberOf(skim(text).members, "response");
    if (member !== undefined) skim(text.slice(member.valueStart, member.valueEnd));
    return true;
  } catch {
    return false;
  }
}
