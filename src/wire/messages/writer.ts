/**
 * Writes a streamed answer as messages events (Anthropic API reference, "Streaming messages"). Blocks are sent one after the
 * other, because the official SDK takes the last one begun for the one that ends: events of a later block wait until then.
 * A block begins with its first content, so that none is empty (T45). The most frequent event, a piece of text, is put
 * between two precomputed strings.
 */
import { NO_USAGE, type Usage } from "../../base/usage.ts";
import type { AnswerIdentity, StreamWriter } from "../format.ts";
import { jsonTextOf } from "../json/json-text.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { fragmentOf, latin1OfJson, textOf } from "../neutral/fragment.ts";
import type { Fragment, PartKind, Seal, Stop, StreamEvent } from "../neutral/neutral.ts";
import { sseEvent } from "../neutral/sse.ts";
import { svcJson } from "../svc.ts";
import { writeCitation } from "./citations.ts";
import { inputOf, openThinking, redactedBlock, textBlock, toolUseBlock } from "./reply-blocks.ts";
import { sealText, UNSIGNED } from "./seals.ts";
import { writeStop } from "./stop.ts";
import { writeDeltaUsage, writeMessagesUsage } from "./usage.ts";
import { messageHead } from "./write-reply.ts";

type Begin = Extract<StreamEvent, { type: "begin" }>;

interface Block {
  readonly begin: Begin;
  /** Text of a delta before the piece; empty until a block that takes pieces has begun on the wire. */
  head: string;
  /** The block's index on the wire; -1 before it begins there. */
  index: number;
  /** The seal of a part whose block cannot have one: sent in a thinking block of its own. */
  seal: Seal | undefined;
  /** Its signature is on the wire. */
  isSigned: boolean;
  /**
   * A call's first piece, kept back until the next event: a seal may follow it, which must be written before the call. All of
   * its pieces, where these begin no object.
   */
  first: Fragment;
  /** What a call's arguments begin with behind white space. */
  begins: "nothing" | "object" | "other";
  /** Events that came while another block was open. */
  waiting: StreamEvent[];
}

const TAIL = '"}}\n\n';

const DELTA: Readonly<Record<PartKind, string>> = {
  text: '{"type":"text_delta","text":"',
  refusal: '{"type":"text_delta","text":"',
  reasoning: '{"type":"thinking_delta","thinking":"',
  tool_call: '{"type":"input_json_delta","partial_json":"',
};

export class MessagesStreamWriter implements StreamWriter {
  readonly #identity: AnswerIdentity;
  /** Begun and not yet ended on the wire; the first is the open one. */
  readonly #queue: Block[] = [];
  #started = false;
  #nextIndex = 0;
  #usage: Usage = NO_USAGE;
  #stop: Stop = { reason: "other" };
  #hasToolCalls = false;
  #hasRefusal = false;
  /** The seal of the last text: sent before the next block, because a message must not end with it (`blocksOf`). */
  #behind: Seal | undefined;

  constructor(identity: AnswerIdentity) {
    this.#identity = identity;
  }

  write(event: StreamEvent): string {
    if (event.type === "usage") {
      this.#usage = event.usage;
      return "";
    }
    // The format has one choice only.
    if (event.choice !== 0) return "";
    if (event.type === "stop") {
      this.#stop = event.stop;
      return "";
    }
    if (event.type === "begin") {
      this.#queue.push({
        begin: event,
        head: "",
        index: -1,
        seal: undefined,
        isSigned: false,
        first: "",
        begins: "nothing",
        waiting: [],
      });
      if (event.kind === "tool_call") this.#hasToolCalls = true;
      else if (event.kind === "refusal") this.#hasRefusal = true;
      return this.#start();
    }
    const open = this.#queue[0];
    if (open?.begin.part === event.part) return this.#tell(open, event);
    this.#queue.find((block) => block.begin.part === event.part)?.waiting.push(event);
    return "";
  }

  close(usage: Usage, svc: SvcReply): string {
    let out = this.#start();
    for (let open = this.#queue[0]; open !== undefined; open = this.#queue[0]) out += this.#end(open);
    out += event(messageDelta(this.#stop, this.#hasToolCalls, this.#hasRefusal, usage));
    return `${out}event: message_stop\ndata: {"type":"message_stop","svc":${svcJson(svc)}}\n\n`;
  }

  /** `message_start`, once (T51). */
  #start(): string {
    if (this.#started) return "";
    this.#started = true;
    return event(messageStart(this.#identity, this.#usage));
  }

  /** An event of the open block. */
  #tell(block: Block, event: StreamEvent): string {
    switch (event.type) {
      case "delta": {
        // Almost every event of a stream.
        if (block.head !== "" && event.text !== "") return block.head + event.text + TAIL;
        if (event.text === "" && block.first === "") return "";
        if (isKeptBack(block)) {
          if (block.begins === "nothing") block.begins = beginningOf(event.text);
          block.first += event.text;
          return "";
        }
        const begun = block.head === "" ? this.#begin(block) : "";
        return event.text === "" ? begun : begun + block.head + event.text + TAIL;
      }
      case "seal":
        return this.#seal(block, event.seal);
      case "citation": {
        if (block.begin.kind !== "text") return "";
        const begun = block.head === "" ? this.#begin(block) : "";
        const delta = { type: "citations_delta" as const, citation: writeCitation(event.citation) };
        return begun + eventOfDelta(block.index, delta);
      }
      case "end":
        return this.#end(block);
      default:
        return "";
    }
  }

  #seal(block: Block, seal: Seal): string {
    const { begin, head } = block;
    if (begin.kind !== "reasoning") {
      block.seal = seal;
      return "";
    }
    if (head === "" && begin.isRedacted === true) {
      const before = this.#sealBehind();
      block.index = this.#nextIndex++;
      return before + event(blockStart(block.index, redactedBlock(seal)));
    }
    const begun = head === "" ? this.#begin(block) : "";
    block.isSigned = true;
    return begun + signature(block.index, sealText(seal));
  }

  #begin(block: Block): string {
    const { begin, seal } = block;
    // Redacted thinking takes no pieces: text after it is a block of its own.
    let out = block.index < 0 ? this.#sealBehind() : blockStop(block.index);
    if (begin.kind === "tool_call" && seal !== undefined) {
      out += this.#carrier(seal);
      block.seal = undefined;
    }
    const index = this.#nextIndex++;
    block.index = index;
    block.head = headOf(index, begin.kind);
    out += event(blockStart(index, emptyBlock(begin)));
    return block.first === "" ? out : out + block.head + block.first + TAIL;
  }

  /** Ends the open block and sends the events that waited for it. */
  #end(block: Block): string {
    let out = "";
    if (block.index < 0 && block.begin.kind === "tool_call") {
      if (block.begins !== "object") block.first = objectFragment(block.first);
      out = this.#begin(block);
    }
    const isThinking = block.begin.kind === "reasoning" && block.head !== "";
    if (isThinking && !block.isSigned) out += signature(block.index, UNSIGNED);
    if (block.index >= 0) out += blockStop(block.index);
    // The seal of a call came too late, after its arguments began: here it would be taken for the next call's.
    if (block.seal !== undefined && block.begin.kind !== "tool_call") this.#behind = block.seal;
    this.#queue.shift();
    const next = this.#queue[0];
    if (next === undefined) return out;
    const { waiting } = next;
    next.waiting = [];
    for (const event of waiting) out += this.#tell(next, event);
    return out;
  }

  #sealBehind(): string {
    const seal = this.#behind;
    this.#behind = undefined;
    return seal === undefined ? "" : this.#carrier(seal);
  }

  #carrier(seal: Seal): string {
    const index = this.#nextIndex++;
    const start = event(blockStart(index, openThinking()));
    return start + signature(index, sealText(seal)) + blockStop(index);
  }
}

/** Bytes of arguments that begin no object: more are passed on as they come. */
const MAX_KEPT_BACK = 1024 * 1024;

/** Whether the next piece is kept with the first. */
const isKeptBack = ({ begin, index, first, begins }: Block): boolean =>
  begin.kind === "tool_call" &&
  index < 0 &&
  (begins !== "object" || first === "") &&
  first.length < MAX_KEPT_BACK;

/** White space is escaped in a fragment, save the space itself. */
const BEGINS_OBJECT = /^(?: |\\[nrt])*\{/;
const IS_SPACE = /^(?: |\\[nrt])*$/;

function beginningOf(piece: Fragment): Block["begins"] {
  if (BEGINS_OBJECT.test(piece)) return "object";
  return IS_SPACE.test(piece) ? "nothing" : "other";
}

/** A call's arguments that begin no object, as a whole answer has them. */
const objectFragment = (args: Fragment): Fragment =>
  args === "" ? "" : fragmentOf(jsonTextOf(inputOf(textOf(args))));

const event = (value: { readonly type: string }): string => sseEvent(value.type, latin1OfJson(value));

const headOf = (index: number, kind: PartKind): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${DELTA[kind]}`;

const blockStop = (index: number): string =>
  `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;

/** The prompt's counts, if they are known already; the answer's come at the end (clients add them up). */
export const messageStart = (identity: AnswerIdentity, usage: Usage) => ({
  type: "message_start" as const,
  message: {
    ...messageHead(identity),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: writeMessagesUsage({ ...usage, outputTokens: 0, reasoningTokens: 0 }),
  },
});

export const blockStart = <T>(index: number, content_block: T) => ({
  type: "content_block_start" as const,
  index,
  content_block,
});

export const emptyBlock = (begin: Begin) => {
  if (begin.kind === "tool_call") return toolUseBlock(begin.id, begin.name, {});
  return begin.kind === "reasoning" ? openThinking() : textBlock("");
};

export const blockDelta = <T>(index: number, delta: T) => ({
  type: "content_block_delta" as const,
  index,
  delta,
});

const eventOfDelta = (index: number, delta: unknown): string => event(blockDelta(index, delta));

const signature = (index: number, text: string): string =>
  eventOfDelta(index, { type: "signature_delta" as const, signature: text });

export const messageDelta = (stop: Stop, hasToolCalls: boolean, hasRefusal: boolean, usage: Usage) => ({
  type: "message_delta" as const,
  delta: { container: null, ...writeStop(stop, hasToolCalls, hasRefusal) },
  usage: writeDeltaUsage(usage),
});
