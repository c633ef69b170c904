/**
 * The neutral contract: a generation in terms of no format. A client format reads its requests into it and writes answers
 * from it; an upstream dialect writes requests from it and reads answers into it. There is no code for a pair of formats.
 */
import type { Usage } from "../../base/usage.ts";
import type { JsonText } from "../json/json-text.ts";
import type { Report } from "./asked-extras.ts";
import type { UpstreamError } from "./contract.ts";

// -- the request --

export interface NeutralRequest {
  readonly stream: boolean;
  /** In order. A format's system prompt or instructions are `system` messages, which come first. */
  readonly messages: readonly NeutralMessage[];
  readonly tools: readonly NeutralTool[];
  readonly options: NeutralOptions;
  /** JSON pointers of members that this contract has no place for. */
  readonly dropped: readonly string[];
}

export interface NeutralMessage {
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly Part[];
  /** JSON pointer in the client's body, for warnings. */
  readonly at: string;
}

/** How long a provider shall cache the prompt up to and including this part. */
export interface CacheMark {
  readonly ttl?: "5m" | "1h" | undefined;
}

/**
 * What only its maker can read and must get back to the byte: a thinking block's signature, redacted thinking, encrypted
 * reasoning, a thought signature. Any other provider would refuse it: writers pass it on to its maker only.
 */
export interface Seal {
  readonly by: SealMaker;
  readonly data: string;
}

export type SealMaker = "anthropic" | "google" | "openai";

/** The location or data of an image, a document, sound or video. Base64 is passed on unchanged. */
export type MediaSource =
  | { readonly kind: "data"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType?: string }
  /** A file in the provider's own store. */
  | { readonly kind: "file"; readonly id: string };

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly cache?: CacheMark | undefined;
  readonly citations?: readonly Citation[];
  /** Google signs parts of every kind. */
  readonly seal?: Seal | undefined;
  /** Names of the tools that the text says were found. */
  readonly foundTools?: readonly string[];
}

export interface ImagePart {
  readonly type: "image";
  readonly source: MediaSource;
  /** OpenAI's `low`, `high`, `auto`. */
  readonly detail?: string;
  readonly cache?: CacheMark | undefined;
  /** Google signs images that its models made. */
  readonly seal?: Seal | undefined;
  /** JSON pointer in the client's body, for refusals. */
  readonly at: string;
}

export interface DocumentPart {
  readonly type: "document";
  /** `text`: the document itself as plain text. */
  readonly source: MediaSource | { readonly kind: "text"; readonly text: string };
  readonly name?: string;
  readonly context?: string;
  /** The answer shall cite it. */
  readonly citations?: boolean;
  readonly cache?: CacheMark | undefined;
  /** JSON pointer in the client's body, for refusals. */
  readonly at: string;
}

/** Sound or video. */
export interface RecordingPart {
  readonly type: "audio" | "video";
  readonly source: MediaSource;
  /** JSON pointer in the client's body, for refusals. */
  readonly at: string;
}

/**
 * How a client calls a tool that is no function. `custom`: with text in free form (OpenAI). All others: in items of their own, which
 * have arguments as a function has (OpenAI's responses).
 */
export type ToolKind = "custom" | OwnKind;

/** Kinds of tools that OpenAI defines and the client runs; a client has one of each. */
export type OwnKind = "local_shell" | "shell" | "apply_patch" | "tool_search";

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  /** JSON text of an object; `{}` where the model gave none. The text itself where the kind is `custom`. */
  readonly arguments: string;
  /** Absent: a function. */
  readonly kind?: ToolKind | undefined;
  /** In an answer: the client's group of tools that the name is in. */
  readonly namespace?: string | undefined;
  readonly seal?: Seal | undefined;
  readonly cache?: CacheMark | undefined;
}

/** Part of a `user` message. */
export interface ToolResultPart {
  readonly type: "tool_result";
  readonly id: string;
  /** The name of the tool, where the call is known. */
  readonly name: string;
  /** That of the call. */
  readonly kind?: ToolKind | undefined;
  readonly parts: readonly (TextPart | ImagePart | DocumentPart)[];
  readonly isError: boolean;
  readonly cache?: CacheMark | undefined;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  /** Empty if it is redacted or encrypted as a whole, or only its seal is kept. */
  readonly text: string;
  /** A summary that the provider made of it, not the reasoning itself. */
  readonly isSummary?: boolean;
  /**
   * The seal holds all of it (Anthropic's `redacted_thinking`, OpenAI's `encrypted_content`), not a signature of the text.
   */
  readonly isRedacted?: boolean;
  readonly seal?: Seal | undefined;
}

export interface RefusalPart {
  readonly type: "refusal";
  readonly text: string;
}

export type Part =
  | TextPart
  | ImagePart
  | DocumentPart
  | RecordingPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart;

export interface NeutralTool {
  /** Whole, no mark. */
  readonly name: string;
  /** Absent: a function. The parameters of other kinds are those of the function that stands for it where there is no such kind. */
  readonly kind?: ToolKind | undefined;
  /** The grammar of a custom tool's input. Absent: any text. */
  readonly grammar?: Grammar | undefined;
  /** How the client names it, where that is in another way: by a group of tools and a name within. Calls come back so. */
  readonly within?: { readonly namespace: string | undefined; readonly name: string } | undefined;
  readonly description?: string;
  /** JSON schema of an object. */
  readonly parameters: JsonText;
  readonly strict?: boolean;
  readonly cache?: CacheMark | undefined;
}

/** The grammar of a custom tool's input: `lark` or `regex` (OpenAI). */
export interface Grammar {
  readonly syntax: string;
  readonly definition: string;
}

/** The value of a request's field and the field's JSON pointer. */
export interface FieldValue<T> {
  readonly value: T;
  readonly at: string;
}

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

export type OutputFormat =
  | { readonly type: "text" }
  /** Any JSON object. */
  | { readonly type: "json" }
  | {
      readonly type: "json_schema";
      readonly name?: string;
      /** Without marks: where a dialect has no place for it, it goes into the text of the schema. */
      readonly description?: string;
      readonly schema: JsonText;
      readonly strict?: boolean;
    };

/** Levels in rising order; `none` switches reasoning off. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface Reasoning {
  readonly effort?: Effort;
  readonly budgetTokens?: number;
  /** The most that an effort becomes where it becomes a budget; absent: as much as it is worth. */
  readonly mostTokens?: number;
  /** Anthropic's `adaptive`: the model decides; Google's dynamic budget. */
  readonly isAdaptive?: boolean;
  /** Whether the reasoning, or a summary of it, shall be shown. Absent: as the provider does. */
  readonly show?: boolean;
  /** OpenAI's `auto`, `concise`, `detailed`. */
  readonly summary?: string;
}

/** Options of a generation; absent if the request does not set them. */
export interface NeutralOptions {
  readonly maxTokens?: FieldValue<number>;
  readonly temperature?: FieldValue<number>;
  readonly topP?: FieldValue<number>;
  readonly topK?: FieldValue<number>;
  readonly stop?: FieldValue<readonly string[]>;
  readonly seed?: FieldValue<number>;
  readonly frequencyPenalty?: FieldValue<number>;
  readonly presencePenalty?: FieldValue<number>;
  readonly logitBias?: FieldValue<Readonly<Record<string, number>>>;
  /** Log probabilities of the tokens; `top` is the number of alternatives for each. */
  readonly logprobs?: FieldValue<{ readonly top: number }>;
  /** Number of answers asked for, if more than one. */
  readonly choices?: FieldValue<number>;
  readonly toolChoice?: FieldValue<ToolChoice>;
  /** Names of the tools of which the model may call any, if not all. */
  readonly allowedTools?: FieldValue<readonly string[]>;
  readonly parallelTools?: FieldValue<boolean>;
  readonly format?: FieldValue<OutputFormat>;
  readonly reasoning?: FieldValue<Reasoning>;
  /** OpenAI's `low`, `medium`, `high`. */
  readonly verbosity?: FieldValue<string>;
  /** A stable id of the end user. */
  readonly user?: FieldValue<string>;
  /** Routes equal prompts to one cache (OpenAI). */
  readonly cacheKey?: FieldValue<string>;
  readonly serviceTier?: FieldValue<string>;
  readonly metadata?: FieldValue<Readonly<Record<string, string>>>;
}

// -- the answer --

export type StopReason =
  | "stop"
  | "stop_sequence"
  | "length"
  | "tool_calls"
  | "content_filter"
  | "refusal"
  /** The provider interrupted a long turn; it goes on when the answer is sent back (Anthropic's `pause_turn`). */
  | "pause"
  | "other";

export interface Stop {
  readonly reason: StopReason;
  /** The stop sequence that ended it, if the upstream reports it. */
  readonly sequence?: string;
}

export type Citation =
  | {
      readonly type: "url";
      readonly url: string;
      readonly title: string;
      readonly citedText?: string;
      /** The characters of the answer's text that it supports. */
      readonly start?: number;
      readonly end?: number;
    }
  | {
      readonly type: "document";
      /** Index among the documents of the request. */
      readonly index: number;
      readonly title: string;
      readonly citedText: string;
      /** Places in the document: characters (0-based), pages (1-based), blocks (0-based); `end` is exclusive. */
      readonly unit: "char" | "page" | "block";
      readonly start: number;
      readonly end: number;
    };

/** One token's log probability, as OpenAI writes it. */
export interface Logprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[] | null;
  readonly top_logprobs: readonly Omit<Logprob, "top_logprobs">[];
}

/** Media in an answer, whole in one part. */
export interface MediaReplyPart {
  readonly type: "media";
  readonly kind: "image" | "audio" | "video" | "document";
  /** Undefined where only its existence was read, because no client's format has a place for it. */
  readonly source?: MediaSource | undefined;
  readonly seal?: Seal | undefined;
}

export type ReplyPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart | MediaReplyPart;

export interface NeutralChoice {
  readonly parts: readonly ReplyPart[];
  readonly stop: Stop;
  readonly logprobs?: readonly Logprob[];
}

/** A whole answer. */
export interface NeutralReply {
  readonly choices: readonly NeutralChoice[];
  /** Undefined where the upstream reported none. */
  readonly usage: Usage | undefined;
  readonly report?: Report | undefined;
  /** An error that came with status 200; the other members are then ignored. */
  readonly error?: UpstreamError;
}

/**
 * A piece of a string as it stands inside a JSON string: escaped, its UTF-8 bytes as latin1 (see `fragment.ts`).
 * Concatenated pieces are the escape of the concatenation, and no cut can damage a character.
 */
export type Fragment = string;

export type PartKind = "text" | "reasoning" | "refusal" | "tool_call";

/**
 * A streamed answer, event by event. The parts of a choice are numbered from 0 in the order in which they begin; a part
 * begins once, then has any number of deltas, seals and citations, then ends once; several may be open at a time. `stop`
 * comes once a choice, after its parts have ended. `usage` is cumulative: the last one counts.
 */
export type StreamEvent =
  | {
      readonly type: "begin";
      readonly choice: number;
      readonly part: number;
      readonly kind: "text" | "refusal" | "reasoning";
      /** See {@link ReasoningPart}. */
      readonly isSummary?: boolean;
      readonly isRedacted?: boolean;
    }
  | {
      readonly type: "begin";
      readonly choice: number;
      readonly part: number;
      readonly kind: "tool_call";
      readonly id: string;
      readonly name: string;
      /** Absent: a function. The deltas of a custom call are its text, those of all others arguments. */
      readonly tool?: ToolKind | undefined;
      /** See {@link ToolCallPart}. */
      readonly namespace?: string | undefined;
    }
  /** More of the part's text, or of a call's arguments. An empty one: nothing else may come for a while. */
  | {
      readonly type: "delta";
      readonly choice: number;
      readonly part: number;
      readonly text: Fragment;
      readonly logprobs?: readonly Logprob[];
    }
  /** A part that comes whole: it neither begins nor ends. */
  | { readonly type: "media"; readonly choice: number; readonly part: number; readonly media: MediaReplyPart }
  | { readonly type: "seal"; readonly choice: number; readonly part: number; readonly seal: Seal }
  | { readonly type: "citation"; readonly choice: number; readonly part: number; readonly citation: Citation }
  | { readonly type: "end"; readonly choice: number; readonly part: number }
  | { readonly type: "stop"; readonly choice: number; readonly stop: Stop }
  | { readonly type: "usage"; readonly usage: Usage };
