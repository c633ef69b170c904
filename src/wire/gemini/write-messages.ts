/**
 * A conversation as Gemini's `contents`. Thought signatures of Google's go back on the very parts they came on (T48);
 * seals of other makers stay here. Neighbouring messages of one side become one content: the responses to a turn's
 * function calls must be in one content.
 */
import { append } from "../json/append.ts";
import type {
  NeutralMessage,
  NeutralRequest,
  Part,
  Seal,
  TextPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { argumentsObject, objectIn } from "../neutral/tool-arguments.ts";
import { turnsOf } from "../neutral/turns.ts";
import type { GeminiContent, GeminiMedia, GeminiPart } from "./body.ts";
import type { Generation } from "./models.ts";
import { writeMedia } from "./write-media.ts";

/**
 * Google's documented stand-in for calls that another model made: https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const UNSIGNED = "skip_thought_signature_validator";

/** The name of a tool whose call is not in the conversation: a result must have one, and ids are no names. */
const UNKNOWN_TOOL = "unknown_tool";

export interface Conversation {
  readonly system: { readonly text: string }[];
  readonly contents: GeminiContent[];
}

/** @throws WeirError 400 where no message is left, or a call's arguments are no object. */
export function writeMessages(
  { messages }: NeutralRequest,
  generation: Generation,
  options: OptionTaker,
): Conversation {
  const system: { text: string }[] = [];
  const hoist = ({ text }: TextPart) => void system.push({ text });
  const turns = turnsOf(messages, options, hoist, (message) =>
    new PartWriter(message, generation, options).write(),
  );
  const contents: GeminiContent[] = turns.map(({ role, content }) => ({
    role: role === "assistant" ? "model" : "user",
    parts: content,
  }));
  if (generation.signedCalls) for (const content of contents) signFirstCall(content.parts);
  return { system, contents };
}

/** Only the first call of a turn is asked for its signature; those of parallel calls have none. */
function signFirstCall(parts: GeminiPart[]): void {
  const at = parts.findIndex((part) => "functionCall" in part);
  const call = parts[at];
  if (call !== undefined && call.thoughtSignature === undefined) {
    parts[at] = { ...call, thoughtSignature: UNSIGNED };
  }
}

class PartWriter {
  readonly #message: NeutralMessage;
  readonly #generation: Generation;
  readonly #options: OptionTaker;
  readonly #parts: GeminiPart[] = [];

  constructor(message: NeutralMessage, generation: Generation, options: OptionTaker) {
    this.#message = message;
    this.#generation = generation;
    this.#options = options;
  }

  write(): GeminiPart[] {
    for (const part of this.#message.parts) this.#add(part);
    return this.#parts;
  }

  #add(part: Part): void {
    switch (part.type) {
      case "text":
        if ((part.citations?.length ?? 0) > 0) this.#drop();
        this.#addText(part.text, part.seal);
        return;
      case "refusal":
        this.#addText(part.text, undefined);
        return;
      case "reasoning": {
        const signature = signatureOf(part.seal);
        if (part.text === "" && signature.thoughtSignature === undefined) return;
        this.#parts.push({ text: part.text, thought: true, ...signature });
        return;
      }
      case "image":
        // `auto` is what the provider does anyway.
        if (part.detail !== undefined && part.detail !== "auto") this.#drop();
        this.#parts.push({ ...writeMedia(part.source), ...signatureOf(part.seal) });
        return;
      case "document":
        if (part.name !== undefined || part.context !== undefined || part.citations === true) this.#drop();
        if (part.source.kind === "text") this.#addText(part.source.text, undefined);
        else this.#parts.push(writeMedia(part.source));
        return;
      case "audio":
      case "video":
        this.#parts.push(writeMedia(part.source));
        return;
      case "tool_call": {
        const args = argumentsObject(part.arguments).placed;
        const { id, name } = part;
        this.#parts.push({ functionCall: { id, name, args }, ...signatureOf(part.seal) });
        return;
      }
      case "tool_result":
        this.#addResult(part);
    }
  }

  /** An empty text is refused unless it has a signature. */
  #addText(text: string, seal: Seal | undefined): void {
    const signature = signatureOf(seal);
    if (text !== "" || signature.thoughtSignature !== undefined) this.#parts.push({ text, ...signature });
  }

  #addResult({ id, name, parts, isError }: ToolResultPart): void {
    const texts: string[] = [];
    const media: GeminiMedia[] = [];
    for (const part of parts) {
      if (part.type === "text") texts.push(part.text);
      else if (part.source.kind === "text") texts.push(part.source.text);
      else media.push(writeMedia(part.source));
    }
    const within = media.length > 0 && this.#generation.mediaInResults;
    const response = responseOf(texts.join("\n"), isError);
    this.#parts.push({
      functionResponse: { id, name: name || UNKNOWN_TOOL, response, ...(within && { parts: media }) },
    });
    if (!within) append(this.#parts, media);
  }

  #drop(): void {
    this.#options.drop(this.#message.at);
  }
}

/** Only Google's own seals: it cannot read those of other makers. */
const signatureOf = (seal: Seal | undefined): { thoughtSignature?: string } =>
  seal?.by === "google" ? { thoughtSignature: seal.data } : {};

/**
 * A member `$ref`, which the provider takes for the name of a medium of the result: "The referenced name … in function_response.response
 * does not match to a display_name in the function_response.parts" (twentyhq/twenty#19412, NousResearch/hermes-agent#100441).
 */
const REFERENCE = /"(?:\$|\\u0024)(?:r|\\u0072)(?:e|\\u0065)(?:f|\\u0066)"\s*:/;

/** The provider takes only objects: JSON text of an object is sent as that object. */
function responseOf(text: string, isError: boolean) {
  const isObject = text.trimStart().startsWith("{") && !REFERENCE.test(text);
  const object = isObject ? objectIn(text) : undefined;
  if (isError) return { error: object ?? text };
  return object ?? { result: text };
}
