/**
 * What the exchange knows of any wire format: facts of a request that planning and money need, the options of the
 * `svc` extension, and what a reply or stream reports. Formats differ behind these types, never in front of them.
 */
import type { Cost } from "../money.ts";
import type { RouteOptions } from "../route.ts";
import type { Usage } from "../usage.ts";

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
  /** Names the conversation that the call is of; empty where none is named. */
  readonly sessionId: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly strict: boolean;
  readonly onDisconnect: "cancel" | "drain" | undefined;
  /** Members for the body of one provider, by its id: told to nobody else. */
  readonly providerOptions: Readonly<Record<string, unknown>>;
}

export const NO_OPTIONS: SvcOptions = Object.freeze({
  route: Object.freeze({}),
  app: "",
  userId: "",
  sessionId: "",
  tags: Object.freeze({}),
  strict: false,
  onDisconnect: undefined,
  providerOptions: Object.freeze({}),
});

export interface RequestFacts {
  /** As the client named it. */
  readonly model: string;
  readonly stream: boolean;
  /** Answers asked for (`n`). */
  readonly choices: number;
  readonly maxTokens: number | undefined;
  /** A conservative guess from bytes; see `wire/estimate.ts`. */
  readonly promptTokens: number;
  /** Of inputs that are read one by one, the longest: a context bounds each, not their sum. Absent: the prompt is one. */
  readonly longestTokens?: number;
  readonly hasTools: boolean;
  readonly parallelTools: boolean;
  readonly hasImages: boolean;
  readonly hasAudio: boolean;
  readonly hasSchema: boolean;
  readonly imageCount: number;
  /** Documents, sound, video or stored files: nobody here can say how many tokens they are. */
  readonly hasUncounted: boolean;
  /** How many inputs that nobody here can count are read one by one, each up to a context. Absent: the prompt is one. */
  readonly separateInputs?: number;
  /** The most search units that a ranking can cost; 0 of other tasks. */
  readonly searchUnits: number;
}

/** What a whole answer told us. */
export interface ReplyFacts {
  /** Undefined where the upstream reported none. */
  readonly usage: Usage | undefined;
  readonly stopReason: string;
  readonly toolCalls: number;
  /** Bytes of generated text, the base of an estimate; of a whole answer only where usage is missing. */
  readonly outputBytes: number;
  /** Those of them that came after the last report of usage: a stream cut short may know its usage up to there only. */
  readonly unreportedBytes: number;
}

/** An upstream's own account of a failure; for the record, and for the caller only where the class allows. */
export interface UpstreamError {
  readonly code: string;
  readonly type: string;
  readonly message: string;
  /** Where the body says when to come back, milliseconds. */
  readonly retryAfterMs?: number;
}

/** What is added to an answer about the call itself; the wire shape of `svc` on chat completions. */
export interface SvcReply {
  readonly request_id: string;
  readonly provider: string;
  readonly endpoint_id: string;
  readonly cost: Cost;
  readonly warnings: readonly string[];
}
