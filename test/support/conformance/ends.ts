/** The two ends of a conformance pair: a client that speaks a format, and an upstream that is spoken to in a dialect. */
import type { Ask, Heard, Json, Seen, StopWord, Told } from "./ask.ts";

export type ClientName = "chat" | "completions" | "responses" | "messages" | "generate";
/** Dialects that every format of generations can be translated to. */
export type ChatUpstreamName = "chat" | "responses" | "messages" | "gemini" | "converse";
export type UpstreamName = ChatUpstreamName | "completions";

/** What a case needs of both ends. */
export type Feature =
  | "system"
  | "turns"
  | "images"
  | "image_urls"
  | "documents"
  | "tools"
  | "tool_errors"
  | "schema"
  | "json"
  | "seed"
  | "stop"
  | "choices"
  | "thinking"
  | "refusals"
  | "cache_marks";

export interface Client {
  readonly name: ClientName;
  readonly path: string;
  readonly idPrefix: string;
  readonly headers: Readonly<Record<string, string>>;
  /** An option of this format and few dialects. */
  readonly own: { readonly pointer: string; readonly keptBy: readonly UpstreamName[] };
  /** Where a feature stands in this format: warnings about it begin so. */
  readonly pointers: Partial<Readonly<Record<Feature, string>>>;
  /** What the format has no place for, and why. */
  readonly lacks: Partial<Readonly<Record<Feature, string>>>;
  /** Reasons to stop in this format's words. */
  readonly stops: Readonly<Record<StopWord, string>>;
  request(ask: Ask, model: string, stream: boolean): object;
  /** Reads an answer. */
  whole(body: Json): Heard;
  /** Reads a stream, and holds its events to the rules of the format. */
  streamed(text: string): Heard;
  /** The error of an error body. */
  errorOf(body: Json): Json;
  /** Code of the error that ended a stream; undefined where it ended well. */
  streamError(text: string): string | undefined;
}

export interface Upstream {
  readonly name: UpstreamName;
  /** The one format whose clients reach it; absent: all of them. */
  readonly only?: ClientName;
  readonly model: string;
  /** One that reasons and signs its reasoning. */
  readonly thinker: string;
  readonly lacks: Partial<Readonly<Record<Feature, Lack>>>;
  /** Reasoning that comes back must be sealed as it was. */
  readonly seals: boolean;
  /** Reads the body of a request. */
  seen(body: Json): Seen;
  /** Reads the body of an answer that is not streamed. */
  told(body: Json): Told;
}

export interface Lack {
  readonly why: string;
  /** A warning names what was dropped; false where nothing is lost by it. */
  readonly isTold: boolean;
  /** The call is refused, not only where it is strict: a model that does not see it could not answer. */
  readonly isRefused?: true;
}
