/**
 * A conversation as Converse's `system` and `messages`. The roles take turns, so neighbouring messages of one side become
 * one. Cache marks become cache points behind their blocks (T50). Reasoning goes back to Anthropic's models only, and only
 * with Anthropic's own seal (T47).
 */
import { NOTHING_SAID } from "../accepts/texts.ts";
import type {
  CacheMark,
  ImagePart,
  NeutralMessage,
  NeutralRequest,
  Part,
  ReasoningPart,
  RecordingPart,
  TextPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { argumentsObject } from "../neutral/tool-arguments.ts";
import { putResultsFirst, turnsOf } from "../neutral/turns.ts";
import type { CachePoint, ContentBlock, ConverseMessage, ResultContent, SystemBlock } from "./body.ts";
import type { Family } from "./models.ts";
import { DocumentNames, writeDocument, writeMedia } from "./write-media.ts";

export interface Conversation {
  readonly system: SystemBlock[];
  readonly messages: ConverseMessage[];
  /** It contains calls or results: the provider then requires the tools. */
  readonly hasToolBlocks: boolean;
}

/** What the endpoint's model takes. */
export interface Abilities {
  readonly family: Family;
  readonly cache: boolean;
}

/** @throws WeirError 400 where no message is left, a call's arguments are no object, or the provider cannot take media. */
export function writeMessages(
  request: NeutralRequest,
  abilities: Abilities,
  options: OptionTaker,
): Conversation {
  const system: SystemBlock[] = [];
  const writer = new BlockWriter(abilities, options);
  const hoist = ({ text, cache }: TextPart) => {
    system.push({ text });
    if (abilities.cache && cache !== undefined) system.push(cachePoint(cache));
  };
  const messages = turnsOf(request.messages, options, hoist, (message) => writer.write(message));
  putResultsFirst(messages, isResult);
  if (writer.hasDocuments) for (const { content } of messages) putTextBeside(content);
  return { system, messages, hasToolBlocks: writer.hasToolBlocks };
}

/** "A text block must be included when using documents" (maximhq/bifrost#5817, BerriAI/litellm#36499). */
function putTextBeside(content: ContentBlock[]): void {
  const at = content.findIndex((block) => "document" in block);
  if (at < 0 || content.some((block) => "text" in block)) return;
  content.splice(at, 0, { text: NOTHING_SAID });
}

/** A cache point stays with its block. */
export const isResult = (block: ContentBlock): boolean | undefined =>
  "cachePoint" in block ? undefined : "toolResult" in block;

export const isThinking = (block: ContentBlock): boolean => "reasoningContent" in block;

export const cachePoint = ({ ttl }: CacheMark): CachePoint => ({
  cachePoint: { type: "default", ...(ttl !== undefined && { ttl }) },
});

class BlockWriter {
  hasToolBlocks = false;
  /** Beside those in results. */
  hasDocuments = false;
  readonly #abilities: Abilities;
  readonly #options: OptionTaker;
  readonly #names = new DocumentNames();
  #at = "";
  #blocks: ContentBlock[] = [];

  constructor(abilities: Abilities, options: OptionTaker) {
    this.#abilities = abilities;
    this.#options = options;
  }

  write({ parts, at }: NeutralMessage): ContentBlock[] {
    this.#at = at;
    this.#blocks = [];
    for (const part of parts) {
      const before = this.#blocks.length;
      this.#add(part);
      if (this.#blocks.length > before) this.#mark(part);
    }
    return this.#blocks;
  }

  #add(part: Part): void {
    switch (part.type) {
      case "text":
        if ((part.citations?.length ?? 0) > 0) this.#drop();
        // The provider refuses an empty text.
        if (part.text !== "") this.#blocks.push({ text: part.text });
        return;
      case "refusal":
        if (part.text !== "") this.#blocks.push({ text: part.text });
        return;
      case "reasoning":
        this.#addReasoning(part);
        return;
      case "image":
      case "audio":
      case "video":
        this.#addMedia(part);
        return;
      case "document":
        this.hasDocuments = true;
        this.#blocks.push({ document: writeDocument(part, this.#names) });
        return;
      case "tool_call": {
        this.hasToolBlocks = true;
        const { id: toolUseId, name } = part;
        this.#blocks.push({ toolUse: { toolUseId, name, input: argumentsObject(part.arguments).placed } });
        return;
      }
      case "tool_result":
        this.#addResult(part);
    }
  }

  #addReasoning({ text, seal, isRedacted }: ReasoningPart): void {
    if (this.#abilities.family !== "anthropic" || seal?.by !== "anthropic") {
      // A seal without text is of use only to its maker.
      if (text !== "") this.#drop();
      return;
    }
    const reasoningContent =
      isRedacted === true
        ? { redactedContent: seal.data }
        : { reasoningText: { text, signature: seal.data } };
    this.#blocks.push({ reasoningContent });
  }

  #addMedia(part: ImagePart | RecordingPart): void {
    if (part.type === "image" && part.detail !== undefined && part.detail !== "auto") this.#drop();
    const block = writeMedia(part);
    if (part.type === "image") this.#blocks.push({ image: block });
    else this.#blocks.push(part.type === "audio" ? { audio: block } : { video: block });
  }

  #addResult({ id, parts, isError }: ToolResultPart): void {
    this.hasToolBlocks = true;
    const content: ResultContent[] = [];
    for (const part of parts) {
      if (part.type === "text") {
        if (part.text !== "") content.push({ text: part.text });
      } else if (part.type === "image") content.push({ image: writeMedia(part) });
      else content.push({ document: writeDocument(part, this.#names) });
    }
    // An error without content is refused, and by some models any result (strands-agents/harness-sdk#2122).
    if (content.length === 0) content.push({ json: {} });
    this.#blocks.push({ toolResult: { toolUseId: id, content, ...(isError && { status: "error" }) } });
  }

  /** A result has no cache points inside: a mark there becomes a cache point after the result, which covers all of it. */
  #mark(part: Part): void {
    if (!this.#abilities.cache) return;
    const within =
      part.type === "tool_result" ? part.parts.findLast(({ cache }) => cache !== undefined) : undefined;
    const mark = ("cache" in part ? part.cache : undefined) ?? within?.cache;
    if (mark !== undefined) this.#blocks.push(cachePoint(mark));
  }

  #drop(): void {
    this.#options.drop(this.#at);
  }
}
