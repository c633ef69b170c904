/**
 * The messages of a messages request and their content blocks in neutral terms. A block without a neutral form is dropped
 * and named by its JSON pointer; a wrong structure is a 400 that names it.
 */
import { PDF, typeOfAddress } from "../media/types.ts";
import { stringAt, wrong } from "../neutral/fields.ts";
import type {
  CacheMark,
  Citation,
  DocumentPart,
  ImagePart,
  MediaSource,
  NeutralMessage,
  Part,
  Seal,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { foundTools } from "../tool-kinds/found.ts";
import { OpenCalls } from "../tool-kinds/open-calls.ts";
import { readCitation } from "./citations.ts";
import { redactedPart, thinkingPart } from "./seals.ts";

/** The cache mark of a block, a tool or the body. */
export function cacheOf(value: JsonObject): { cache?: CacheMark } {
  if (!isObject(value.cache_control)) return {};
  const { ttl } = value.cache_control;
  return { cache: ttl === "5m" || ttl === "1h" ? { ttl } : {} };
}

const CONTENT = "a string or a list of content blocks";

/** The system prompt, where there is one, and the messages. @throws WeirError 400 naming the field */
export function readMessages(body: JsonObject, blocks: BlockReader): NeutralMessage[] {
  const messages: NeutralMessage[] = [];
  if (body.system != null) {
    messages.push({ role: "system", parts: blocks.parts(body.system, "/system"), at: "/system" });
  }
  for (const [index, message] of listOf(body.messages).entries()) {
    const at = `/messages/${index}`;
    const { role, content } = objectOf(message);
    if (role !== "user" && role !== "assistant" && role !== "system") {
      throw wrong(`${at}/role`, `user, assistant or system, not "${stringOf(role).slice(0, 40)}"`);
    }
    if (role !== "system") blocks.by(role === "assistant");
    messages.push({ role, parts: blocks.parts(content, `${at}/content`), at });
  }
  return messages;
}

/** Reads the blocks of one request; knows the tool calls seen so far. */
export class BlockReader {
  /** JSON pointers of what has no neutral form. */
  readonly dropped: string[] = [];
  readonly #source: Source;
  /** Names of the tools that are called: results do not have them. */
  readonly #called = new OpenCalls<string>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** What follows is said by the model, or by others. */
  by(isModel: boolean): void {
    this.#called.by(isModel);
  }

  /** The content of a message or of the system prompt. */
  parts(content: unknown, at: string): Part[] {
    if (typeof content === "string") return [{ type: "text", text: content }];
    if (content == null) return [];
    if (!Array.isArray(content)) throw wrong(at, CONTENT);
    const parts: Part[] = [];
    for (const [index, block] of content.entries()) {
      const place = `${at}/${index}`;
      if (!isObject(block)) throw wrong(place, "a content block");
      this.#block(block, place, parts);
    }
    return withTextSeals(parts);
  }

  #block(block: JsonObject, at: string, into: Part[]): void {
    switch (block.type) {
      case "thinking": {
        const signature = this.#source.whole(stringOf(block.signature));
        into.push(thinkingPart(stringOf(block.thinking), signature));
        break;
      }
      case "redacted_thinking":
        into.push(redactedPart(this.#source.whole(stringOf(block.data))));
        break;
      case "tool_use":
        into.push(this.#toolCall(block, at, into));
        break;
      case "tool_result":
        into.push(this.#toolResult(block, at));
        break;
      default:
        into.push(...this.#plain(block, at));
    }
  }

  /** A block that a tool's result may contain, too. */
  #plain(block: JsonObject, at: string): (TextPart | ImagePart | DocumentPart)[] {
    switch (block.type) {
      case "text":
        return [this.#text(block, at)];
      case "image":
        if (block.transformations != null) this.dropped.push(`${at}/transformations`);
        return [
          { type: "image", source: mediaSource(block.source, "", `${at}/source`), ...cacheOf(block), at },
        ];
      case "document":
        return this.#document(block, at);
      case "search_result":
        return [this.#searchResult(block, at)];
      default:
        this.dropped.push(at);
        return [];
    }
  }

  #text(block: JsonObject, at: string): TextPart {
    const text = stringAt(block.text, `${at}/text`);
    const citations: Citation[] = [];
    for (const [index, value] of listOf(block.citations).entries()) {
      const citation = readCitation(value);
      if (citation === undefined) this.dropped.push(`${at}/citations/${index}`);
      else citations.push(citation);
    }
    return { type: "text", text, ...(citations.length > 0 && { citations }), ...cacheOf(block) };
  }

  /** A document of blocks becomes its text, followed by its images. */
  #document(block: JsonObject, at: string): (DocumentPart | ImagePart)[] {
    const source = objectOf(block.source);
    const isBlocks = source.type === "content" && Array.isArray(source.content);
    const inner = isBlocks ? this.parts(source.content, `${at}/source/content`) : [];
    const texts = inner.flatMap((part) => (part.type === "text" ? [part.text] : []));
    const images = inner.filter((part): part is ImagePart => part.type === "image");
    if (inner.length > texts.length + images.length) this.dropped.push(`${at}/source/content`);
    const document: DocumentPart = {
      type: "document",
      source: isBlocks ? { kind: "text", text: texts.join("\n\n") } : this.#documentSource(source, at),
      ...(typeof block.title === "string" && { name: block.title }),
      ...(typeof block.context === "string" && { context: block.context }),
      ...(objectOf(block.citations).enabled === true && { citations: true }),
      ...cacheOf(block),
      at,
    };
    return [document, ...images];
  }

  #documentSource(source: JsonObject, at: string): DocumentPart["source"] {
    const { type, data, content } = source;
    if (type === "text" && typeof data === "string") return { kind: "text", text: data };
    if (type === "content" && typeof content === "string") return { kind: "text", text: content };
    const media = mediaSource(source, PDF, `${at}/source`);
    if (media.kind !== "url") return media;
    const url = this.#source.whole(media.url);
    // Anthropic knows no other documents of the web (`URLPDFSource`), but an address may show that it is something else.
    const isPlain = /^https?:/i.test(url) && typeOfAddress(url) === undefined;
    return isPlain ? { ...media, mediaType: PDF } : media;
  }

  #searchResult(block: JsonObject, at: string): TextPart {
    const lines = [stringOf(block.title), stringOf(block.source)];
    for (const value of listOf(block.content)) lines.push(stringOf(objectOf(value).text));
    if (objectOf(block.citations).enabled === true) this.dropped.push(`${at}/citations`);
    return { type: "text", text: lines.filter((line) => line !== "").join("\n"), ...cacheOf(block) };
  }

  #toolCall(block: JsonObject, at: string, before: Part[]): ToolCallPart {
    const id = stringAt(block.id, `${at}/id`);
    const name = stringAt(block.name, `${at}/name`);
    this.#called.call(id, name);
    if (block.toolset_name != null) this.dropped.push(`${at}/toolset_name`);
    // Google's signature of a call: our answers have it in an empty thinking block before the call.
    const last = before.at(-1);
    const seal = last && carriedSeal(last);
    if (seal !== undefined) before.pop();
    return {
      type: "tool_call",
      id,
      name,
      arguments: this.#json(block.input),
      ...(seal !== undefined && { seal }),
      ...cacheOf(block),
    };
  }

  /** Some clients keep what was streamed as text. */
  #json(input: unknown): string {
    const carried = this.#source.json(input ?? {});
    if (carried !== undefined) return argumentsText(carried.text);
    if (typeof input === "string") return argumentsText(this.#source.whole(input));
    return JSON.stringify(input);
  }

  #toolResult(block: JsonObject, at: string): ToolResultPart {
    const { content } = block;
    const id = stringAt(block.tool_use_id, `${at}/tool_use_id`);
    if (block.toolset_name != null) this.dropped.push(`${at}/toolset_name`);
    const parts: (TextPart | ImagePart | DocumentPart)[] = [];
    if (typeof content === "string") parts.push({ type: "text", text: content });
    else if (content != null && !Array.isArray(content)) throw wrong(`${at}/content`, CONTENT);
    const found: string[] = [];
    for (const [index, value] of listOf(content).entries()) {
      const place = `${at}/content/${index}`;
      if (!isObject(value)) throw wrong(place, "a content block");
      if (value.type === "tool_reference") found.push(stringAt(value.tool_name, `${place}/tool_name`));
      else parts.push(...this.#plain(value, place));
    }
    if (found.length > 0) parts.push(foundTools(found.map((name) => this.#source.whole(name))));
    return {
      type: "tool_result",
      id,
      name: this.#called.result(id) ?? "",
      parts,
      isError: block.is_error === true,
      ...cacheOf(block),
    };
  }
}

/** The seal of an empty thinking block: the signature of the part next to it, which Google signed. */
const carriedSeal = (part: Part): Seal | undefined =>
  part.type === "reasoning" && part.text === "" && part.seal?.by === "google" ? part.seal : undefined;

/** Moves the seal after a text into the text. Those before calls are already taken by the calls. */
function withTextSeals(parts: readonly Part[]): Part[] {
  const out: Part[] = [];
  for (const part of parts) {
    const seal = carriedSeal(part);
    const last = out.at(-1);
    if (seal !== undefined && last?.type === "text" && last.seal === undefined)
      out[out.length - 1] = { ...last, seal };
    else out.push(part);
  }
  return out;
}

/** @param usual the media type if the source has none */
function mediaSource(value: unknown, usual: string, at: string): MediaSource {
  const { type, data, url, file_id: id, media_type: mediaType } = objectOf(value);
  if (type === "base64" && typeof data === "string") {
    return { kind: "data", mediaType: stringOf(mediaType) || usual, data };
  }
  if (type === "url" && typeof url === "string") return { kind: "url", url };
  if (type === "file" && typeof id === "string") return { kind: "file", id };
  throw wrong(at, "a source of type base64, url or file, with its data");
}
