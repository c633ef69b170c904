/**
 * What the exchange knows of any wire format: facts of a request that planning and money need, the options of the
 * `svc` extension, and what a reply or stream reports. These types are the same for all formats.
 */
import type { HoldMode } from "../../base/call/hold-mode.ts";
import type { OnDisconnect } from "../../base/call/on-disconnect.ts";
import type { Cost } from "../../base/money.ts";
import type { RouteOptions } from "../../base/route.ts";
import type { Usage } from "../../base/usage.ts";
import type { Report } from "./asked-extras.ts";

/**
 * Request bodies beyond this are read off the event loop and sent on in parts: reading JSON takes up to 20 ms a megabyte
 * (T54), and smaller bodies are not worth the way to another thread and back.
 */
export const LARGE_BODY_BYTES = 256 * 1024;

/** The `svc` extension object, read. */
export interface SvcOptions {
  readonly route: RouteOptions;
  readonly app: string;
  readonly userId: string;
  /** Id of the conversation that the call belongs to; empty if none is given. */
  readonly sessionId: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly strict: boolean;
  /** Undefined: as the policy says, else the key. */
  readonly onDisconnect: OnDisconnect | undefined;
  /** Undefined: as the key's calls do. */
  readonly hold: HoldMode | undefined;
  /** Milliseconds that a stream may wait for what other calls hold; 0: it does not wait. */
  readonly holdWaitMs: number;
  /** Members to add to the body for one provider, as JSON text, by the provider's id. No other provider gets them. */
  readonly providerOptions: Readonly<Record<string, string>>;
  /** JSON pointer to them; absent: that of formats which have our options in `svc`. */
  readonly optionsAt?: string;
}

export const NO_OPTIONS: SvcOptions = Object.freeze({
  route: Object.freeze({}),
  app: "",
  userId: "",
  sessionId: "",
  tags: Object.freeze({}),
  strict: false,
  onDisconnect: undefined,
  hold: undefined,
  holdWaitMs: 0,
  providerOptions: Object.freeze({}),
});

export interface RequestFacts {
  /** The name that the client sent. */
  readonly model: string;
  readonly stream: boolean;
  /** Answers asked for (`n`). */
  readonly choices: number;
  readonly maxTokens: number | undefined;
  /** A conservative guess from bytes; see `wire/estimate.ts`. */
  readonly promptTokens: number;
  /** Tokens of the longest input, if each must fit the context by itself. Absent: the prompt is one input. */
  readonly longestTokens?: number;
  readonly hasTools: boolean;
  readonly parallelTools: boolean;
  readonly hasImages: boolean;
  readonly hasAudio: boolean;
  readonly hasSchema: boolean;
  readonly imageCount: number;
  /** Documents, sound, video or stored files: their tokens are unknown here. */
  readonly hasUncounted: boolean;
  /** Inputs of unknown length that each may fill a context of their own. Absent: the prompt is one input. */
  readonly separateInputs?: number;
  /** The most search units that a ranking can cost; 0 for other tasks. */
  readonly searchUnits: number;
}

/** What an answer reported. */
export interface ReplyFacts {
  /** Undefined if the upstream reported none. */
  readonly usage: Usage | undefined;
  readonly stopReason: string;
  readonly toolCalls: number;
  /** Bytes of generated text, the base of an estimate; of a whole answer counted only if usage is missing. */
  readonly outputBytes: number;
  /** Those of `outputBytes` after the last report of usage: a stream cut short reports its usage only up to there. */
  readonly unreportedBytes: number;
  /** What it reported beside tokens; absent where there is nothing. */
  readonly report?: Report | undefined;
  /** Kinds of media in the answer that the client's format has no place for; absent where there are none. */
  readonly lost?: readonly string[] | undefined;
}

/** An upstream's description of a failure: for the record, and for the caller only if the error's class allows it. */
export interface UpstreamError {
  readonly code: string;
  readonly type: string;
  readonly message: string;
  /** When the body says to try again, milliseconds. */
  readonly retryAfterMs?: number;
  /** The member of the request that is at fault, as the provider names it. */
  readonly param?: string;
  /** Tokens of a prompt that overflows the context, and the most there may be, where members of their own say it. */
  readonly promptTokens?: number;
  readonly contextTokens?: number;
  /** The provider answered, and says that the answer is none (`upstream-errors/unusable.ts`). */
  readonly isUnusable?: true;
  /** An event is a whole answer: its JSON, latin1. It is an error of the stream alone. */
  readonly whole?: string;
}

/** What is added to an answer about the call itself; the wire shape of `svc` on chat completions. */
export interface SvcReply {
  readonly request_id: string;
  readonly provider: string;
  readonly endpoint_id: string;
  readonly cost: Cost;
  readonly warnings: readonly string[];
}
