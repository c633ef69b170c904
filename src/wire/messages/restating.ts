/** A message and its events, one as the other (Anthropic API reference, "Message" and "Streaming messages"). */
import { type Fold, SseFolding } from "../forms/folding.ts";
import { type Grown, inOrder, joinMember, newGrown, piecesOf, setMembers } from "../forms/joined.ts";
import { framed, type Restating } from "../forms/restating.ts";
import { ToldEvents } from "../forms/told-events.ts";
import { JsonText } from "../json/json-text.ts";
import { opaquePaths } from "../json/opaque.ts";
import { carriedIn } from "../neutral/carried.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { sseEvent } from "../neutral/sse.ts";
import { argumentsObject } from "../neutral/tool-arguments.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { noMessage } from "./read-reply.ts";
import { MessagesStreamReader } from "./reader.ts";

const INPUTS = opaquePaths([["content", "*", "input"]]);
const BEGUN_INPUTS = opaquePaths([["content_block", "input"]]);

interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

const written = (event: Event): string => sseEvent(event.type, latin1OfJson(event));

export const messagesRestating: Restating = {
  framed,
  events(body) {
    const message = objectOf(parseReply(body, INPUTS));
    const { content, stop_reason = null, stop_sequence = null, usage, ...rest } = message;
    if (!Array.isArray(content)) throw noMessage();
    const begun = {
      ...rest,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...(isObject(usage) && { usage }),
    };
    const told = new ToldEvents();
    const tell = (event: Event) => told.add(written(event));
    tell({ type: "message_start", message: begun });
    for (const [index, value] of content.entries()) {
      const block = objectOf(value);
      const input = carriedIn(block.input);
      tell({ type: "content_block_start", index, content_block: beginningOf(block, input) });
      for (const delta of deltasOf(block, input)) tell({ type: "content_block_delta", index, delta });
      tell({ type: "content_block_stop", index });
    }
    const end = { type: "message_delta", delta: { stop_reason: stop_reason ?? "", stop_sequence } };
    tell(isObject(usage) ? { ...end, usage } : end);
    tell({ type: "message_stop" });
    return told.text;
  },
  folding: (maxEventBytes, listen) =>
    new SseFolding(new MessagesStreamReader(maxEventBytes), new MessageFold(), maxEventBytes, listen),
};

/** A block as its first event has it: without what its deltas bring. */
function beginningOf(block: JsonObject, input: string | undefined): object {
  if (input !== undefined) return { ...block, input: {} };
  if (block.type === "text")
    return { ...block, text: "", ...(Array.isArray(block.citations) && { citations: [] }) };
  return block.type === "thinking" ? { ...block, thinking: "", signature: "" } : block;
}

function deltasOf(block: JsonObject, input: string | undefined): object[] {
  if (input !== undefined) {
    return piecesOf(input).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
  }
  if (block.type === "thinking") {
    const { thinking, signature } = block;
    return [
      ...textDeltas(stringOf(thinking), (piece) => ({ type: "thinking_delta", thinking: piece })),
      ...textDeltas(stringOf(signature), () => ({ type: "signature_delta", signature })).slice(0, 1),
    ];
  }
  if (block.type !== "text") return [];
  return [
    ...textDeltas(stringOf(block.text), (text) => ({ type: "text_delta", text })),
    ...listOf(block.citations).map((citation) => ({ type: "citations_delta", citation })),
  ];
}

const textDeltas = (text: string, deltaOf: (piece: string) => object): object[] =>
  text === "" ? [] : piecesOf(text).map(deltaOf);

interface FoldedBlock {
  readonly members: Grown;
  /** The pieces of its input. */
  input: string;
}

/** More blocks than any answer has: later ones are left out, as by the reader. */
const MAX_BLOCKS = 4096;

/** Puts a message together. What a delta adds to a block is told by its member, so new kinds of blocks need no code. */
class MessageFold implements Fold {
  readonly carries = BEGUN_INPUTS;
  readonly #message = newGrown();
  readonly #usage = newGrown();
  readonly #blocks = new Map<number, FoldedBlock>();

  take(event: JsonObject, name: string): void {
    switch (stringOf(event.type) || name) {
      case "message_start": {
        const { usage, content: _, ...rest } = objectOf(event.message);
        if (this.#message.id === undefined) setMembers(this.#message, rest);
        this.#count(usage);
        break;
      }
      case "content_block_start":
        this.#begin(event.index, objectOf(event.content_block));
        break;
      case "content_block_delta":
        this.#grow(event.index, objectOf(event.delta));
        break;
      case "message_delta": {
        const { type: _type, delta, usage, ...rest } = event;
        setMembers(this.#message, { ...rest, ...objectOf(delta) });
        this.#count(usage);
        break;
      }
    }
  }

  whole(): unknown {
    const usage = Object.keys(this.#usage).length > 0 && { usage: this.#usage };
    const content = inOrder(this.#blocks).map(([, block]) => blockOf(block));
    return {
      ...this.#message,
      type: "message",
      role: "assistant",
      content,
      stop_reason: this.#message.stop_reason ?? null,
      stop_sequence: this.#message.stop_sequence ?? null,
      ...usage,
    };
  }

  /** Reports are cumulative; one that says nothing, or 0, leaves the earlier value. */
  #count(usage: unknown): void {
    for (const [key, value] of Object.entries(objectOf(usage))) {
      if (this.#usage[key] === undefined || (value !== null && value !== 0)) this.#usage[key] = value;
    }
  }

  #begin(index: unknown, block: JsonObject): void {
    if (typeof index !== "number" || this.#blocks.has(index) || this.#blocks.size === MAX_BLOCKS) return;
    const members = newGrown();
    setMembers(members, block);
    this.#blocks.set(index, { members, input: "" });
  }

  #grow(index: unknown, { type, ...pieces }: JsonObject): void {
    const block = typeof index === "number" ? this.#blocks.get(index) : undefined;
    if (block === undefined) return;
    for (const [key, value] of Object.entries(pieces)) {
      if (key === "partial_json") block.input += stringOf(value);
      else if (type === "citations_delta" && key === "citation")
        joinMember(block.members, "citations", [value]);
      else joinMember(block.members, key, value);
    }
  }
}

function blockOf({ members, input }: FoldedBlock): object {
  const begun = carriedIn(members.input);
  if (input === "" && begun === undefined) return members;
  return { ...members, input: input === "" ? new JsonText(begun as string) : argumentsObject(input) };
}
