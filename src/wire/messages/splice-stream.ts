/**
 * A spliced messages stream: events are passed on unchanged. `message_start` gets our id and model; the events that end the
 * answer wait for the settlement.
 */
import { fail } from "../../base/errors.ts";
import { NO_USAGE, type Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import { applyEdits, latin1Json, memberOf, membersOf, setMember } from "../json/json.ts";
import { copied } from "../json/latin1.ts";
import { opaquePaths } from "../json/opaque.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { Passed } from "../neutral/frames/frame.ts";
import { isObject, type JsonObject, stringOf } from "../neutral/reader.ts";
import { sseEvent } from "../neutral/sse.ts";
import { type CallForm, idEdit } from "../relay/call-edits.ts";
import { asItCame, passedEvent, SplicedStream } from "../relay/captured-stream.ts";
import { svcJson } from "../svc.ts";
import { MessagesStreamReader } from "./reader.ts";
import { writeDeltaUsage, writeMessagesUsage } from "./usage.ts";

/** A call in an event of its own. */
export const CALL_BLOCK: CallForm = {
  paths: opaquePaths([["content_block"]]),
  types: ["tool_use"],
  id: "id",
  args: "input",
  isText: false,
};

export class MessagesSpliceStream extends SplicedStream {
  protected readonly reader: MessagesStreamReader;
  readonly #identity: AnswerIdentity;
  #hasStart = false;
  /** The last `message_delta` and all events after it. */
  #delta = "";
  #behind = "";
  #stop = '{"type":"message_stop"}';

  constructor(identity: AnswerIdentity) {
    super(identity);
    this.#identity = identity;
    this.reader = new MessagesStreamReader(identity.maxEventBytes, this);
  }

  close(usage: Usage, svc: SvcReply): string {
    let out = this.rest();
    if (this.#delta !== "") out += sseEvent("message_delta", this.#deltaWith(usage));
    out += this.#behind;
    const stop =
      withMember(this.#stop, "svc", svcJson(svc)) ?? `{"type":"message_stop","svc":${svcJson(svc)}}`;
    return out + sseEvent("message_stop", stop);
  }

  protected pass(data: string, type: string, event: JsonObject): Passed | undefined {
    if (type === "message_stop") this.#stop = copied(data);
    else if (type === "message_start") this.#start(data);
    // A `message_delta` without a stop reason only reports usage.
    else if (type === "message_delta" && this.reader.stopped) this.#delta = copied(data);
    // Without a type no client can read it.
    else if (type === "") return undefined;
    else if (this.#delta !== "") this.#behind += copied(passedEvent(type, data));
    else {
      if (!this.hasBegun && isProvidersBlock(event)) this.begin();
      this.add(passedEvent(type, this.#withId(data)));
      return asItCame(type);
    }
    return undefined;
  }

  /** The event in which a call begins, with an id where it has none of its own. */
  #withId(data: string): string {
    const id = this.madeId;
    if (id === "") return data;
    this.madeId = "";
    return applyEdits(data, idEdit(data, CALL_BLOCK, id));
  }

  /** Patches `message_start`, of which clients get only one (T51). */
  #start(data: string): void {
    if (this.hasBegun || this.#hasStart) return;
    this.#hasStart = true;
    const { id, model } = this.#identity;
    const message = memberOf(membersOf(data) ?? [], "message");
    const text = message && data.slice(message.valueStart, message.valueEnd);
    const named = text && withMember(text, "id", JSON.stringify(id));
    const modelled = named && withMember(named, "model", JSON.stringify(model));
    const patched = modelled && withUsage(modelled);
    if (message === undefined || patched === undefined) {
      throw fail("upstream_invalid_response", "The provider's answer begins with no message.");
    }
    const whole = data.slice(0, message.valueStart) + patched + data.slice(message.valueEnd);
    this.add(sseEvent("message_start", whole));
  }

  /** As the upstream wrote it. If it reported no usage, the usage that the call was metered by is added. */
  #deltaWith(usage: Usage): string {
    if (this.capture.usage !== undefined) return this.#delta;
    return withMember(this.#delta, "usage", latin1Json(writeDeltaUsage(usage))) ?? this.#delta;
  }
}

/** Whether a block begins that no other format has, such as a use of a tool that the provider runs: it is content. */
const isProvidersBlock = ({ content_block: block }: JsonObject): boolean =>
  isObject(block) && !EMPTY_BLOCKS.includes(stringOf(block.type));

/** Blocks that begin without content. */
const EMPTY_BLOCKS: readonly string[] = ["text", "thinking"];

/** The text with one member set; undefined if the text is no object. */
function withMember(text: string, key: string, value: string): string | undefined {
  const members = membersOf(text);
  return members && applyEdits(text, [setMember(text, members, key, value)]);
}

/** Clients read the usage of the first event and add to it (T51): if the upstream sends none, zeros are added. */
function withUsage(message: string): string | undefined {
  const usage = memberOf(membersOf(message) ?? [], "usage");
  const hasUsage = usage !== undefined && message.startsWith("{", usage.valueStart);
  return hasUsage ? message : withMember(message, "usage", JSON.stringify(writeMessagesUsage(NO_USAGE)));
}
