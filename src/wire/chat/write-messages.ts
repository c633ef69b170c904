/**
 * A neutral conversation as chat-completions messages. Tool results become `tool` messages directly behind the message that
 * called; those take text only, so their images and files follow in a user message. Media that the format has no part for are
 * refused; other parts are dropped and named.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { append } from "../json/append.ts";
import { fileName } from "../media/file-names.ts";
import type {
  DocumentPart,
  ImagePart,
  NeutralMessage,
  Part,
  ReasoningPart,
  RecordingPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import { notCarried } from "../neutral/not-carried.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { detailsOf, type ReasoningDetail } from "./reasoning.ts";

type ChatText = { readonly type: "text"; readonly text: string };

export type ChatPart =
  | ChatText
  | {
      readonly type: "image_url";
      readonly image_url: { readonly url: string; readonly detail?: ImageDetail };
    }
  | {
      readonly type: "input_audio";
      readonly input_audio: { readonly data: string; readonly format: AudioFormat };
    }
  | {
      readonly type: "file";
      readonly file: { readonly file_data: string; readonly filename: string } | { readonly file_id: string };
    };

/** Not in OpenAI's API: vLLM, OpenRouter and others accept it. */
type ChatVideo = { readonly type: "video_url"; readonly video_url: { readonly url: string } };

type AnyPart = ChatPart | ChatVideo;
type ImageDetail = "auto" | "low" | "high" | "original";
type AudioFormat = "wav" | "mp3";

export type ChatMessage =
  | { readonly role: "system"; readonly content: string | ChatText[] }
  | { readonly role: "user"; readonly content: string | AnyPart[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string | ChatText[] }
  | {
      readonly role: "assistant";
      readonly content: string | ChatText[] | null;
      readonly refusal?: string;
      readonly tool_calls?: {
        readonly id: string;
        readonly type: "function";
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
      readonly reasoning_content?: string;
      readonly reasoning_details?: ReasoningDetail[];
    };

const DETAILS: readonly string[] = ["auto", "low", "high", "original"] satisfies ImageDetail[];

/** Formats that `input_audio` takes (OpenAI). */
const AUDIO_FORMATS: Readonly<Record<string, AudioFormat>> = { "audio/wav": "wav", "audio/mpeg": "mp3" };

export function writeMessages(
  messages: readonly NeutralMessage[],
  endpoint: Endpoint,
  taker: OptionTaker,
): readonly ChatMessage[] {
  return new Writing(endpoint, taker).write(messages);
}

class Writing {
  readonly #endpoint: Endpoint;
  readonly #taker: OptionTaker;
  /** Up to the last turn of the model's and its results, which must follow their call directly. */
  readonly #written: ChatMessage[] = [];
  /** Messages that follow the results of that turn. They wait, because later messages may hold further results of it. */
  #behind: ChatMessage[] = [];

  constructor(endpoint: Endpoint, taker: OptionTaker) {
    this.#endpoint = endpoint;
    this.#taker = taker;
  }

  write(messages: readonly NeutralMessage[]): readonly ChatMessage[] {
    for (const message of messages) {
      for (const { part, at } of placed(message)) this.#unmark(part, at);
      if (message.role === "assistant") this.#assistant(message);
      else if (message.role === "user") this.#user(message);
      else this.#behind.push({ role: "system", content: contentOf(this.#texts(placed(message))) });
    }
    this.#endTurn();
    return this.#written;
  }

  /** No more results belong to the calls so far. */
  #endTurn(): void {
    append(this.#written, this.#behind);
    this.#behind = [];
  }

  /** Servers of this dialect cache without marks, and refuse unknown members. */
  #unmark(part: Part, at: string): void {
    if ("cache" in part && part.cache !== undefined) this.#taker.drop(`${at}/cache_control`);
    if (part.type !== "tool_result") return;
    for (const [index, inner] of part.parts.entries()) this.#unmark(inner, `${at}/content/${index}`);
  }

  #user(message: NeutralMessage): void {
    const media: AnyPart[] = [];
    const own: Placed<Part>[] = [];
    let results = 0;
    for (const { part, at } of placed(message)) {
      if (part.type === "tool_result") {
        append(media, this.#result(part, at));
        results++;
      } else {
        own.push({ part, at });
      }
    }
    const content = [...media, ...this.#parts(own)];
    if (content.length > 0 || results === 0) this.#behind.push({ role: "user", content: contentOf(content) });
  }

  /** Returns the parts that a tool message cannot contain. */
  #result({ id, parts, isError }: ToolResultPart, at: string): AnyPart[] {
    // The format has no member for an error, and the text is not changed.
    if (isError) this.#taker.drop(`${at}/is_error`);
    const texts: ChatText[] = [];
    const media: AnyPart[] = [];
    for (const written of this.#parts(parts.map((part, index) => ({ part, at: `${at}/content/${index}` })))) {
      if (written.type === "text") texts.push(written);
      else media.push(written);
    }
    this.#written.push({ role: "tool", tool_call_id: id, content: contentOf(texts) });
    return media;
  }

  #assistant(message: NeutralMessage): void {
    const reasoning: ReasoningPart[] = [];
    const calls: ToolCallPart[] = [];
    const texts: Placed<TextPart>[] = [];
    let refusal = "";
    for (const { part, at } of placed(message)) {
      if (part.type === "text") texts.push({ part, at });
      else if (part.type === "reasoning") reasoning.push(part);
      else if (part.type === "tool_call") calls.push(part);
      else if (part.type === "refusal") refusal += part.text;
      else if ("source" in part) throw notCarried(part);
      else this.#taker.drop(at);
    }
    const content = contentOf(this.#texts(texts));
    this.#endTurn();
    this.#written.push({
      role: "assistant",
      content: content === "" && (calls.length > 0 || refusal !== "") ? null : content,
      ...(refusal !== "" && { refusal }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: "function" as const,
          function: { name, arguments: args },
        })),
      }),
      ...this.#reasoning(reasoning),
    });
  }

  /** Most models do not read reasoning, so it is left out without naming it. Only seals need more than the plain text. */
  #reasoning(parts: readonly ReasoningPart[]) {
    const { capabilities, provider } = this.#endpoint;
    if (!capabilities.reasoning) return {};
    const refused = provider.quirks.bodies?.chat?.unsupported ?? [];
    const text = parts.map((part) => part.text).join("");
    const isSealed = parts.some(({ seal }) => seal !== undefined);
    return {
      ...(text !== "" && !refused.includes("reasoning_content") && { reasoning_content: text }),
      ...(isSealed && !refused.includes("reasoning_details") && { reasoning_details: detailsOf(parts) }),
    };
  }

  #parts(parts: readonly Placed<Part>[]): AnyPart[] {
    return parts.flatMap(({ part, at }) => {
      const written = this.#part(part, at);
      if (written === undefined) this.#taker.drop(at);
      return written ?? [];
    });
  }

  /** For roles that have only text. */
  #texts(parts: readonly Placed<Part>[]): ChatText[] {
    return parts.flatMap(({ part, at }) => {
      const written = this.#part(part, at);
      if (written?.type === "text") return written;
      if ("source" in part) throw notCarried(part);
      this.#taker.drop(at);
      return [];
    });
  }

  /** Undefined if the format has no part for it. */
  #part(part: Part, at: string): AnyPart | undefined {
    switch (part.type) {
      case "text":
        return { type: "text", text: part.text };
      case "image":
        return this.#image(part, at);
      case "audio":
        return audioOf(part);
      case "video":
        if (!this.#endpoint.modalitiesIn.includes("video")) throw notCarried(part);
        return { type: "video_url", video_url: { url: addressOf(part) } };
      case "document":
        return this.#document(part, at);
      default:
        return undefined;
    }
  }

  /** @throws WeirError 400 where it is in a provider's own store */
  #image(part: ImagePart, at: string): ChatPart {
    const url = addressOf(part);
    const { detail } = part;
    if (detail === undefined) return { type: "image_url", image_url: { url } };
    if (isDetail(detail)) return { type: "image_url", image_url: { url, detail } };
    this.#taker.drop(`${at}/detail`);
    return { type: "image_url", image_url: { url } };
  }

  #document(part: DocumentPart, at: string): ChatPart {
    const { source, name, context, citations } = part;
    if (context !== undefined) this.#taker.drop(`${at}/context`);
    if (citations === true) this.#taker.drop(`${at}/citations`);
    switch (source.kind) {
      case "text":
        if (name !== undefined) this.#taker.drop(`${at}/title`);
        return { type: "text", text: source.text };
      case "data": {
        const data = `data:${source.mediaType};base64,${source.data}`;
        return { type: "file", file: { filename: fileName(name, source.mediaType), file_data: data } };
      }
      case "file":
        return { type: "file", file: { file_id: source.id } };
      case "url":
        throw notCarried(part);
    }
  }
}

interface Placed<P extends Part> {
  readonly part: P;
  /** JSON pointer of the part, as formats place it. */
  readonly at: string;
}

const placed = ({ parts, at }: NeutralMessage): Placed<Part>[] =>
  parts.map((part, index) => ({ part, at: `${at}/content/${index}` }));

/** A single text as a string: every server accepts this form. */
function contentOf<P extends AnyPart>(parts: P[]): string | P[] {
  const [first] = parts;
  if (first === undefined) return "";
  return parts.length === 1 && first.type === "text" ? first.text : parts;
}

const isDetail = (detail: string): detail is ImageDetail => DETAILS.includes(detail);

function audioOf(part: RecordingPart): ChatPart {
  const { source } = part;
  const format = source.kind === "data" ? AUDIO_FORMATS[source.mediaType] : undefined;
  if (source.kind !== "data" || format === undefined) throw notCarried(part);
  return { type: "input_audio", input_audio: { data: source.data, format } };
}

function addressOf(part: ImagePart | RecordingPart): string {
  const { source } = part;
  if (source.kind === "file") throw notCarried(part);
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
