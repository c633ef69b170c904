/** A Converse answer and the events of ConverseStream, one as the other (Amazon Bedrock API Reference, responses of both). */
import { type Fold, ReadFolding } from "../forms/folding.ts";
import { type Grown, inOrder, joinMember, newGrown, piecesOf, setMembers } from "../forms/joined.ts";
import type { Restating } from "../forms/restating.ts";
import { ToldEvents } from "../forms/told-events.ts";
import { opaquePaths } from "../json/opaque.ts";
import { carriedIn } from "../neutral/carried.ts";
import {
  type Emit,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parsed,
  stringOf,
} from "../neutral/reader.ts";
import { argumentsObject } from "../neutral/tool-arguments.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { EventStreamDecoder, eventFrame, type FrameHeaders } from "./event-stream.ts";
import { ConverseStreamReader } from "./reader.ts";

const INPUTS = opaquePaths([["output", "message", "content", "*", "toolUse", "input"]]);

export const converseRestating: Restating = {
  events(body) {
    const { output, stopReason, ...rest } = objectOf(parseReply(body, INPUTS));
    const { role = "assistant", content } = objectOf(objectOf(output).message);
    const told = new ToldEvents();
    told.add(eventFrame("messageStart", { role }));
    for (const [contentBlockIndex, value] of listOf(content).entries()) {
      const { start, deltas } = eventsOf(objectOf(value));
      if (start !== undefined) told.add(eventFrame("contentBlockStart", { contentBlockIndex, start }));
      for (const delta of deltas) told.add(eventFrame("contentBlockDelta", { contentBlockIndex, delta }));
      told.add(eventFrame("contentBlockStop", { contentBlockIndex }));
    }
    return told.text + eventFrame("messageStop", { stopReason }) + eventFrame("metadata", rest);
  },
  folding: (maxEventBytes, listen) => new FrameFolding(maxEventBytes, listen),
};

interface BlockEvents {
  readonly start?: object;
  readonly deltas: readonly object[];
}

function eventsOf(block: JsonObject): BlockEvents {
  if (typeof block.text === "string") return { deltas: piecesOf(block.text).map((text) => ({ text })) };
  if (isObject(block.toolUse)) {
    const { input, ...start } = block.toolUse;
    const text = carriedIn(input) ?? (typeof input === "string" ? input : "");
    return {
      start: { toolUse: start },
      deltas: piecesOf(text).map((piece) => ({ toolUse: { input: piece } })),
    };
  }
  if (isObject(block.reasoningContent)) {
    const { reasoningText, ...rest } = block.reasoningContent;
    const { text, signature } = objectOf(reasoningText);
    const said = piecesOf(stringOf(text)).map((piece) => ({ text: piece }));
    const all = [...said, ...(signature === undefined ? [] : [{ signature }])];
    const deltas = reasoningText === undefined ? [rest] : all;
    return { deltas: deltas.map((delta) => ({ reasoningContent: delta })) };
  }
  if (isObject(block.citationsContent)) {
    const { content, citations } = block.citationsContent;
    const texts = listOf(content).map((piece) => ({ text: stringOf(objectOf(piece).text) }));
    return { deltas: [...texts, ...listOf(citations).map((citation) => ({ citation }))] };
  }
  if (!isObject(block.image)) return { deltas: [] };
  const { source, ...image } = block.image;
  return { start: { image }, deltas: [{ image: { source } }] };
}

/** The same as for server-sent events, in frames. */
class FrameFolding extends ReadFolding {
  readonly #frames: EventStreamDecoder;
  readonly #each = (headers: FrameHeaders, payload: string) => {
    const event = parsed(payload);
    if (event !== undefined) this.fold.take(event, headers[":event-type"] ?? "");
  };

  constructor(maxEventBytes: number, listen?: Emit) {
    super(new ConverseStreamReader(maxEventBytes), new BlockFold(), listen);
    this.#frames = new EventStreamDecoder(maxEventBytes);
  }

  override push(read: string): void {
    super.push(read);
    this.#frames.push(read, this.#each);
  }
}

interface FoldedBlock {
  readonly start: JsonObject;
  readonly grown: Grown;
  readonly images: Buffer[];
  readonly citations: unknown[];
}

/** More blocks than any answer has. */
const MAX_BLOCKS = 4096;

class BlockFold implements Fold {
  readonly #answer = newGrown();
  readonly #blocks = new Map<number, FoldedBlock>();
  #role: unknown = "assistant";

  take(event: JsonObject, name: string): void {
    const { contentBlockIndex: index, start, delta } = event;
    switch (name) {
      case "messageStart":
        this.#role = event.role ?? this.#role;
        break;
      case "contentBlockStart":
        this.#at(index, objectOf(start));
        break;
      case "contentBlockDelta":
        this.#grow(this.#at(index, {}), objectOf(delta));
        break;
      case "messageStop":
      case "metadata":
        setMembers(this.#answer, event);
        break;
    }
  }

  whole(): unknown {
    const content = inOrder(this.#blocks).flatMap(([, block]) => blockOf(block));
    return { ...this.#answer, output: { message: { role: this.#role, content } } };
  }

  #at(index: unknown, start: JsonObject): FoldedBlock | undefined {
    if (typeof index !== "number") return undefined;
    let block = this.#blocks.get(index);
    if (block === undefined && this.#blocks.size < MAX_BLOCKS) {
      block = { start, grown: newGrown(), images: [], citations: [] };
      this.#blocks.set(index, block);
    }
    return block;
  }

  #grow(block: FoldedBlock | undefined, delta: JsonObject): void {
    if (block === undefined) return;
    const { image, citation, ...rest } = delta;
    // Each piece of an image is base64 of its own.
    if (isObject(image)) block.images.push(Buffer.from(stringOf(objectOf(image.source).bytes), "base64"));
    else if (isObject(citation)) block.citations.push(citation);
    else for (const key of Object.keys(rest)) joinMember(block.grown, key, rest[key]);
  }
}

function blockOf({ start, grown, images, citations }: FoldedBlock): object[] {
  if (isObject(start.toolUse)) {
    const input = argumentsObject(stringOf(objectOf(grown.toolUse).input));
    return [{ toolUse: { ...start.toolUse, input } }];
  }
  if (isObject(start.image) || images.length > 0) {
    const source = { bytes: Buffer.concat(images).toString("base64") };
    return [{ image: { ...objectOf(start.image), source } }];
  }
  if (isObject(grown.reasoningContent)) {
    const { text, signature, ...rest } = grown.reasoningContent;
    const reasoningText = { text: stringOf(text), ...(signature !== undefined && { signature }) };
    const isRedacted = rest.redactedContent !== undefined;
    return [{ reasoningContent: isRedacted ? rest : { reasoningText } }];
  }
  if (typeof grown.text !== "string") return [];
  if (citations.length === 0) return [{ text: grown.text }];
  return [{ citationsContent: { content: [{ text: grown.text }], citations } }];
}
