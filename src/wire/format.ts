/**
 * The two ends of a model call as the exchange sees them: a client's format, an upstream's dialect, and the passage between
 * a pair of them, which splices bytes where both speak the same and translates where they do not.
 */
import type { Dialect, Endpoint, Task } from "../endpoint.ts";
import type { WeirError } from "../errors.ts";
import type { Usage } from "../usage.ts";
import type { ReplyFacts, RequestFacts, SvcOptions, SvcReply, UpstreamError } from "./contract.ts";
import type { Elided, Member } from "./json.ts";
import type { NeutralReply, NeutralRequest, StreamEvent } from "./neutral.ts";
import type { StreamReader } from "./reader.ts";
import type { Source } from "./source.ts";

/** Wire formats that model calls come in; also `dialect_in` of the records. */
export type FormatName =
  | "chat"
  | "completions"
  | "responses"
  | "messages"
  | "generate"
  | "embeddings"
  | "embed"
  | "rerank";

/** A client's request, read as far as every call needs it. Plain data: it crosses from one thread to another. */
export interface ClientRequest {
  /** As received; never changed. */
  readonly bytes: Buffer;
  readonly members: readonly Member[];
  readonly elided: readonly Elided[];
  readonly facts: RequestFacts;
  readonly svc: SvcOptions;
  /** Holds data URLs or base64, which no tokenizer counts as its provider does. */
  readonly hasOpaque: boolean;
}

/** Who an answer is: told to the client in its format's own words. */
export interface AnswerIdentity {
  /** The request id with the prefix of the format. */
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  /** Unix time in seconds, for formats that tell it. */
  readonly createdS: number;
  /** Of one upstream event; a larger one ends the stream. */
  readonly maxEventBytes: number;
  /** Of the answer kept for the record; a larger one is not kept. */
  readonly maxCaptureBytes: number;
}

/** A whole answer, read and not yet written: it is written once the call is metered. */
export interface WholeAnswer {
  readonly facts: ReplyFacts;
  /** An error that came with status 200. */
  readonly error: UpstreamError | undefined;
  /** The body for the client. `usage` is what the call was metered by. */
  write(usage: Usage, svc: SvcReply): Buffer;
}

/** A streamed answer on its way from upstream to client. All text is latin1, one character a byte. */
export interface AnswerStream {
  /** The upstream said its last word; nothing after it counts. */
  readonly done: boolean;
  /** The answer is whole, whether or not the upstream said so. */
  readonly complete: boolean;
  /** An error event of the upstream's; what follows it is not read. */
  readonly error: UpstreamError | undefined;
  /** Events that carried something for the client. */
  readonly events: number;
  /** Upstream events that could not be read. */
  readonly malformed: number;
  /** Bytes of generated text so far. */
  readonly textBytes: number;
  /** Of formats that number their events: the number of the next, behind all that `push` and `end` returned. */
  readonly nextSequence?: number | undefined;
  readonly facts: ReplyFacts;
  /** The answer for the record as JSON; undefined where it outgrew the bound. */
  kept(): Buffer | undefined;
  /** Of formats with a history, once closed: the answer as a client gets it that asks for it later. */
  responseJson?(): string | undefined;
  /**
   * One read of the upstream's body. Returns what the client gets now; may be empty.
   * @throws WeirError `upstream_invalid_response` on an event beyond the bound.
   */
  push(read: string): string;
  /** The upstream's body is over: a last event may have come without its end. */
  end(): string;
  /** What leaves after the settlement. `usage` is what the call was metered by. */
  close(usage: Usage, svc: SvcReply): string;
}

/** A request as written for one endpoint. */
export interface Outgoing {
  readonly parts: readonly Uint8Array[];
  /** JSON pointers of what the client said and this endpoint is not told. */
  readonly dropped: readonly string[];
}

/** From a client's format to an upstream's dialect and back. */
export interface Passage<R extends ClientRequest = ClientRequest> {
  /** @throws WeirError 400 where the request cannot be told in the dialect at all. */
  write(request: R, endpoint: Endpoint): Outgoing;
  /** Of a splice: whether it must look through this body to write it. Absent: it never does. */
  looksThrough?(request: R): boolean;
  /** @throws WeirError `upstream_invalid_response` where the body is no answer. */
  whole(body: Buffer, request: R, identity: AnswerIdentity): WholeAnswer;
  stream(request: R, identity: AnswerIdentity): AnswerStream;
}

/** A format whose answers the gateway keeps, so that a later request can continue them. Items are JSON text. */
export interface History<R extends ClientRequest = ClientRequest> {
  /** Id of the answer that the request continues; undefined where it begins anew. */
  previousOf(request: R): string | undefined;
  /** Whether the client lets its answer be kept. */
  keeps(request: R): boolean;
  /** Whether it names items of kept answers instead of sending them. */
  names(request: R): boolean;
  /**
   * The request's body with those items.
   * @param itemOf an item's JSON text by its id
   * @throws WeirError 404 naming an item that is not kept, 413 where the body outgrows `maxBytes`
   */
  named(request: R, itemOf: (id: string) => string | undefined, maxBytes: number): Buffer;
  /** The items of an answer as delivered, by id. */
  itemsOf(answer: string): ReadonlyMap<string, string>;
  /** The request's body with the items that came before in front of its own. */
  expand(request: R, items: string): Buffer;
  /** What was read of an expanded body, continuing what the request continued. @param by provider that gave the answer so far */
  continuing(read: R, request: R, by: string): R;
  /** All items up to the end of this turn. @param answer as delivered */
  itemsAfter(request: R, answer: string): string;
}

/** Bytes are UTF-8. */
export type PromptText = string | Uint8Array;

/** Formats, and those of them that are read and written by rules of their own on one route. */
export type FormatKey = FormatName | "messages_count";

/** What the clients of a format do, beside the bodies that they send. */
export interface ClientHabits {
  /** They send their credential as `x-api-key`. */
  readonly sendsApiKey?: boolean;
  /** The header by which they ask for features: it goes on to a provider of their dialect. */
  readonly featuresHeader?: "anthropic-beta" | "openai-beta";
  /** They read the state of rate limits in headers that begin with this as well, with resets as times. */
  readonly ratePrefix?: "anthropic-ratelimit";
  /** Of an answer to `count_tokens` they read the number alone. */
  readonly readsBareCounts?: boolean;
  /** Members of the body that name the end user; the first that is there counts. */
  readonly userMembers: readonly string[];
}

export const OPENAI_HABITS: ClientHabits = Object.freeze({ userMembers: ["safety_identifier", "user"] });

/** A format that clients speak. */
export interface ClientFormat<R extends ClientRequest = ClientRequest> {
  readonly name: FormatName;
  readonly key: FormatKey;
  readonly habits: ClientHabits;
  /** The schema of its errors, by its name in the API's description. */
  readonly errorSchema: "Error" | "MessagesError";
  readonly task: Task;
  /** Of the ids of answers: `chatcmpl-`, `msg_`, … */
  readonly idPrefix: string;
  /** JSON pointer to what the model reads. */
  readonly promptAt: string;
  /** What stands between any two writes of a stream and says nothing. */
  readonly keepAlive: string;
  /** @throws WeirError 400 with a JSON pointer to the field at fault. */
  read(bytes: Buffer): R;
  /** What a tokenizer must read for an exact count: an upper bound of the prompt's text. Long ones are UTF-8 in the body. */
  promptTexts(request: R): PromptText[];
  /** The dialect that is this very format: bytes pass. */
  readonly splice: { readonly dialect: Dialect; readonly passage: Passage<R> } | undefined;
  /** How it is translated, where it asks for generations. */
  readonly generation: GenerationFormat<R> | undefined;
  readonly history?: History<R>;
  /** An error as this format's clients read it: a whole body. */
  errorBody(error: WeirError, requestId: string): string;
  /**
   * The same inside a stream that has begun: events as text.
   * @param sequence its number, in formats that number their events
   */
  errorEvent(error: WeirError, requestId: string, sequence?: number): string;
}

/** A format of generations, as translation needs it. */
export interface GenerationFormat<R extends ClientRequest = ClientRequest> {
  /** The request in neutral terms. Strings may hold the source's marks. @throws WeirError 400 naming the field */
  neutral(request: R, source: Source): NeutralRequest;
  /** The answer's JSON text. */
  writeReply(reply: NeutralReply, request: R, identity: AnswerIdentity, usage: Usage, svc: SvcReply): string;
  streamWriter(request: R, identity: AnswerIdentity): StreamWriter;
}

/** Writes a streamed answer in a client's format. Text is latin1. */
export interface StreamWriter {
  /** What leaves now; may be empty. What ends the answer is kept for `close`. */
  write(event: StreamEvent): string;
  /** The rest, once the call is settled. */
  close(usage: Usage, svc: SvcReply): string;
  /** Of formats that number their events: the number of the next. */
  readonly nextSequence?: number;
  /** See {@link AnswerStream}. */
  responseJson?(): string | undefined;
}

/** A dialect of generations, as translation needs it. */
export interface GenerationDialect {
  readonly name: Dialect;
  /** The body as a value for JSON.stringify, and the pointers of what it cannot carry. @throws WeirError 400 */
  writeRequest(request: NeutralRequest, endpoint: Endpoint): { body: unknown; dropped: readonly string[] };
  /** @param body parsed JSON. @throws WeirError `upstream_invalid_response` */
  readReply(body: unknown): NeutralReply;
  streamReader(maxEventBytes: number): StreamReader;
}
