/**
 * The two ends of a model call as the exchange sees them: a client's format, an upstream's dialect, and the passage between
 * a pair of them, which splices bytes where both speak the same and translates where they do not.
 */
import type { Clock } from "../base/clock.ts";
import type { Dialect, Endpoint, Task } from "../base/endpoint.ts";
import { errorEnvelope, type WeirError } from "../base/errors.ts";
import type { Usage } from "../base/usage.ts";
import type { SentExtras } from "./extras/sent.ts";
import type { Billed } from "./extras/sift.ts";
import type { Restating } from "./forms/restating.ts";
import { type ClientHabits, type FeaturesHeader, OPENAI_HABITS } from "./habits.ts";
import type { Member } from "./json/json.ts";
import type { OpaquePaths } from "./json/opaque.ts";
import type { Elided } from "./json/skeleton.ts";
import type { MediaKind } from "./media/types.ts";
import type { Extras } from "./neutral/asked-extras.ts";
import type { ReplyFacts, RequestFacts, SvcOptions, SvcReply, UpstreamError } from "./neutral/contract.ts";
import type {
  MediaReplyPart,
  NeutralReply,
  NeutralRequest,
  StreamEvent,
  ToolKind,
} from "./neutral/neutral.ts";
import type { StreamReader } from "./neutral/reader.ts";
import type { FetchedMedia, Source } from "./neutral/source.ts";
import { KEEP_ALIVE, sseData } from "./neutral/sse.ts";
import type { KnownKinds } from "./tool-kinds/lowered.ts";

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
  /** What in the body changes a provider's bill beside tokens. */
  readonly extras: Extras;
  /** Output tokens that the upstream is asked for at most, instead of what the body says; absent: as the body says. */
  readonly outputLimit?: number | undefined;
  /** Tokens of thinking that the upstream is asked for at most, beside such a limit; absent: as the body says. */
  readonly mostThinking?: number | undefined;
  /** What the client asks for in its format's header, for dialects that have it in the body. Absent: nothing, or they have not. */
  readonly features?: { readonly header: FeaturesHeader; readonly names: readonly string[] } | undefined;
  /** What was fetched of media that the body names by address, once an address. Absent: nothing. */
  readonly fetched?: readonly FetchedMedia[] | undefined;
}

/** The members that identify an answer, which every format writes in its own way. */
export interface AnswerNames {
  /** The request id with the prefix of the format. */
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  /** Unix time in seconds, for formats that have it. */
  readonly createdS: number;
  /** Says when the answer was complete, for formats that have it. */
  readonly clock: Pick<Clock, "now">;
}

/** The same, with the bounds of reading it. */
export interface AnswerIdentity extends AnswerNames {
  /** The bound of one upstream event; a larger one ends the stream. */
  readonly maxEventBytes: number;
  /** The bound of the answer kept for the record; a larger one is not kept. */
  readonly maxCaptureBytes: number;
}

/** What a call was metered by, and what its answer says of its cost. */
export interface Charged {
  readonly usage: Usage;
  readonly svc: SvcReply;
}

/** A whole answer that was read. It is written once the call is metered. */
export interface WholeAnswer {
  readonly facts: ReplyFacts;
  /** An error that came with status 200. */
  readonly error: UpstreamError | undefined;
  /** The body for the client. `usage` is what the call was metered by. */
  write(usage: Usage, svc: SvcReply): Buffer;
}

/** Bytes from `start` up to `end` in some memory. */
export interface Piece {
  readonly memory: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Bytes of one read, in the pieces in which they came: the first, and in few reads others. */
export interface Received extends Piece {
  readonly others: readonly Piece[];
}

/** A streamed answer on its way from upstream to client. All text is latin1, one character a byte. */
export interface AnswerStream {
  /** The upstream sent its last event; what follows is ignored. */
  readonly done: boolean;
  /** The answer is whole, with or without the upstream's last event. */
  readonly complete: boolean;
  /** The upstream's error event; what follows it is not read. */
  readonly error: UpstreamError | undefined;
  /** Count of events that carried content for the client. */
  readonly events: number;
  /** Count of upstream events that could not be read. */
  readonly malformed: number;
  /** Bytes of generated text so far. */
  readonly textBytes: number;
  /** A text has begun to grow and goes on. Elsewhere a silent model may be at work (`relay/capture.ts`). */
  readonly isInText: boolean;
  /** Uses of the provider's tools so far; absent: none can be seen. */
  readonly toolUses?: number;
  /** In formats that number their events: the number of the first event after those that `push` and `end` returned. */
  readonly nextSequence?: number | undefined;
  readonly facts: ReplyFacts;
  /** The answer for the record as JSON; undefined if it outgrew the bound. */
  kept(): Buffer | undefined;
  /** In formats with a history, after `close`: the answer as a client gets it that asks for it later. */
  responseJson?(): string | undefined;
  /**
   * One read of the upstream's body. Returns what the client gets now; may be empty. It is to be used at once: the next call of any
   * stream overwrites it.
   * @param isLast the body has ended: a last event is read that came without its blank line
   * @throws WeirError `upstream_invalid_response` on an event beyond the bound.
   */
  read(received: Received, isLast: boolean): Buffer;
  /** The same of latin1 text. */
  push(read: string): string;
  /** The upstream's body has ended: reads a last event that came without its blank line. */
  end(): string;
  /** The events that are sent after the settlement. `usage` is what the call was metered by. */
  close(usage: Usage, svc: SvcReply): string;
}

/** The org's secret: what an upstream would refuse is replaced by a hash with this key. 32 bytes. */
export type OrgKey = Uint8Array;

/** The key where a request is written for no org: what is replaced there is compared with nothing. */
export const NO_ORG_KEY: OrgKey = new Uint8Array(32);

/** A tool as the client named it, and as it hears of its calls. */
export interface OwnTool {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** Absent: a function. */
  readonly kind?: ToolKind | undefined;
}

/**
 * By the name that the upstream was told: the client's tools that it was told in another way than the client named them.
 * Plain data, as it crosses from one thread to another.
 */
export type OwnTools = ReadonlyMap<string, OwnTool>;

/** A request as written for one endpoint. */
export interface Outgoing {
  readonly parts: readonly Uint8Array[];
  /** JSON pointers of the request's members that are not sent to this endpoint. */
  readonly dropped: readonly string[];
  /** How many more there are, which a large body has no names for. Absent: none. */
  readonly droppedMore?: number | undefined;
  /** What of the request's extras is sent, and what is left out for want of a price. Absent: nothing of either. */
  readonly extras?: SentExtras;
  /** What its answer is given back by. Absent: every tool was told as the client named it. */
  readonly ownTools?: OwnTools | undefined;
}

/** From a client's format to an upstream's dialect and back. */
export interface Passage<R extends ClientRequest = ClientRequest> {
  /**
   * @param billed whose credential it will be sent with; the platform's unless told
   * @param orgKey of the client's org; {@link NO_ORG_KEY} unless told
   * @throws WeirError 400 if the request cannot be written in the dialect.
   */
  write(request: R, endpoint: Endpoint, billed?: Billed, orgKey?: OrgKey): Outgoing;
  /** Whether a splice must search this body to write it for the endpoint. Absent: it never must. */
  looksThrough?(request: R, endpoint: Endpoint): boolean;
  /**
   * @param own of the {@link Outgoing} that is answered
   * @throws WeirError `upstream_invalid_response` if the body is no answer.
   */
  whole(body: Buffer, request: R, identity: AnswerIdentity, own?: OwnTools): WholeAnswer;
  stream(request: R, identity: AnswerIdentity, own?: OwnTools): AnswerStream;
  /** Says an answer of the dialect in the other form. Absent: its answers have one form. */
  readonly restating?: Restating;
}

/** A format whose answers the gateway keeps, so that a later request can continue them. Items are JSON text. */
export interface History<R extends ClientRequest = ClientRequest> {
  /** Id of the answer that the request continues; undefined if it continues none. */
  previousOf(request: R): string | undefined;
  /** Id of the conversation that the request goes on from; undefined if it names none. Never both. */
  conversationOf(request: R): string | undefined;
  /** Whether the client allows its answer to be kept. */
  keeps(request: R): boolean;
  /** Whether the client asked for that in so many words, and did not leave it to the default. */
  asksToKeep(request: R): boolean;
  /** Whether the request refers to items of kept answers by id instead of sending them. */
  names(request: R): boolean;
  /**
   * The request's body with those items in place of the references.
   * @param itemOf an item's JSON text by its id
   * @throws WeirError 404 naming an item that is not kept, 413 where the body outgrows `maxBytes`
   */
  named(request: R, itemOf: (id: string) => string | undefined, maxBytes: number): Buffer;
  /** The items of an answer as delivered, by id. */
  itemsOf(answer: string): ReadonlyMap<string, string>;
  /** The request's body with the earlier items before its own. */
  expand(request: R, items: string): Buffer;
  /**
   * What was read of an expanded body, continuing what the request continued. @param by provider that gave the answer so
   * far; undefined where none did
   */
  continuing(read: R, request: R, by: string | undefined): R;
  /** The request's own items. */
  inputOf(request: R): string;
  /** The items of an answer as delivered. */
  outputOf(answer: string): string;
  /** All items up to the end of this turn. @param answer as delivered */
  itemsAfter(request: R, answer: string): string;
}

/** A format whose calls may go on without their client, which asks for the answer by its id. Objects are JSON text, latin1 as events are. */
export interface Background<R extends ClientRequest = ClientRequest> {
  isAsked(request: R): boolean;
  /** Whether the client wants the events as well. */
  isStreamed(request: R): boolean;
  /** The body for any upstream: it asks for a stream, and says nothing of the background. */
  asStream(request: R): Buffer;
  /** What was read of that body, as the request that it is of. */
  continuing(read: R, request: R): R;
  /** The events by which the answer's stream begins, before any upstream is asked, and the number of the event after them. */
  begin(request: R, names: AnswerNames): { readonly text: string; readonly next: number };
  queued(request: R, names: AnswerNames): string;
  /** A queued answer once an upstream answers it. */
  inProgress(queued: string): string;
  cancelled(request: R, names: AnswerNames, charged: Charged): string;
  /** A queued answer whose call ended with its process. @param charged as of `failed` */
  brokenOff(queued: string, error: WeirError, charged: Charged | undefined): string;
  failed(error: WeirError, request: R, names: AnswerNames, charged: Charged | undefined): string;
  /** The event by which the stream of an answer ends that was cancelled, or whose process was killed. @param sequence its number */
  endedEvent(ended: string, sequence: number): string;
}

/** Bytes are UTF-8. */
export type PromptText = string | Uint8Array;

/** Formats, and the routes on which a format is read and written by other rules. */
export type FormatKey = FormatName | "messages_count" | "responses_count";

/** A format that clients speak. */
export interface ClientFormat<R extends ClientRequest = ClientRequest> {
  readonly name: FormatName;
  readonly key: FormatKey;
  readonly habits: ClientHabits;
  /** The schema of its errors, by its name in the API's description. */
  readonly errorSchema: "Error" | "MessagesError";
  readonly task: Task;
  /** Prefix of the ids of answers: `chatcmpl-`, `msg_`, … */
  readonly idPrefix: string;
  /** JSON pointer to the prompt. */
  readonly promptAt: string;
  /** Text without content that may be sent between any two writes of a stream. */
  readonly keepAlive: string;
  /** @throws WeirError 400 with a JSON pointer to the field at fault. */
  read(bytes: Buffer): R;
  /** The texts that a tokenizer counts: an upper bound of the prompt's text. Long ones are slices of the body, UTF-8. */
  promptTexts(request: R): PromptText[];
  /** The dialect that equals this format: bytes are passed on. Undefined if there is none. */
  readonly splice: { readonly dialect: Dialect; readonly passage: Passage<R> } | undefined;
  /** How it is translated; undefined if its task is not generation. */
  readonly generation: GenerationFormat<R> | undefined;
  readonly history?: History<R>;
  /** Absent: its calls end with their client. */
  readonly background?: Background<R>;
  /** An error as this format's clients read it: a whole body. */
  errorBody(error: WeirError, requestId: string): string;
  /** The message that `errorBody` has; absent: the error's own. */
  readonly errorWords?: (error: WeirError) => string;
  /**
   * The same inside a stream that has begun: events as text.
   * @param sequence its number, in formats that number their events
   */
  errorEvent(error: WeirError, requestId: string, sequence?: number): string;
  /**
   * In formats whose clients read an error in the answer itself: the events by which the answer fails, latin1, and the number of the event
   * after them. With `sequence` 0 they open the stream.
   */
  failedEvents?(
    error: WeirError,
    request: R,
    names: AnswerNames,
    sequence: number,
    charged?: Charged,
  ): { readonly text: string; readonly next: number };
}

/** What formats do alike whose clients are OpenAI's or ours. */
export const OPENAI_CLIENTS = {
  habits: OPENAI_HABITS,
  errorSchema: "Error",
  keepAlive: KEEP_ALIVE,
  errorBody: errorEnvelope,
  errorEvent: (error: WeirError, requestId: string) => sseData(errorEnvelope(error, requestId)),
} as const;

/** A format of generations, as translation needs it. */
export interface GenerationFormat<R extends ClientRequest = ClientRequest> {
  /** Where its bodies have JSON that is only carried; {@link Source.json} has it as text. */
  readonly carries: OpaquePaths;
  /** The request in neutral terms. Strings may contain marks of the source. @throws WeirError 400 naming the field */
  neutral(request: R, source: Source): NeutralRequest;
  /** Whether its answers have a place for such media; absent: for none. Only these are given to the writers. */
  takesMedia?(media: MediaReplyPart): boolean;
  /** The answer's JSON text. */
  writeReply(reply: NeutralReply, request: R, identity: AnswerIdentity, usage: Usage, svc: SvcReply): string;
  streamWriter(request: R, identity: AnswerIdentity): StreamWriter;
}

/** Writes a whole answer in a format that repeats nothing of the request: its JSON text, which is sent as UTF-8. */
export type WriteReply = (
  reply: NeutralReply,
  identity: AnswerIdentity,
  usage: Usage,
  svc: SvcReply,
) => string;

/** Writes a streamed answer in a client's format. Text is latin1. */
export interface StreamWriter {
  /** The text to send now; may be empty. The events that end the answer are kept for `close`. */
  write(event: StreamEvent): string;
  /** The rest of the text, after the settlement. */
  close(usage: Usage, svc: SvcReply): string;
  /** In formats that number their events: the number of the next event. */
  readonly nextSequence?: number;
  /** See {@link AnswerStream}. */
  responseJson?(): string | undefined;
}

/** A body in a dialect, for JSON.stringify, and the JSON pointers of what it does not carry. */
export interface Written {
  readonly body: unknown;
  readonly dropped: readonly string[];
}

/** A dialect of generations, as translation needs it. */
export interface GenerationDialect {
  readonly name: Dialect;
  /** What it has beside functions. Absent: nothing. */
  readonly toolKinds?: KnownKinds;
  /** The model's own turns may have images and the like; else these follow in a message of the user's. */
  readonly takesAssistantMedia?: true;
  /** Kinds of media that it takes as data and not by an address of the web. Absent: none, so an address is passed on. */
  readonly takesOnlyData?: readonly MediaKind[];
  /** Documents of text are data too, but for those that are to be cited. Absent: it has a place for their text. */
  readonly takesTextFiles?: true;
  /** @throws WeirError 400 */
  writeRequest(request: NeutralRequest, endpoint: Endpoint): Written;
  /** Its body has a place for features that clients ask for in a header. Absent: none. */
  readonly features?: {
    takes(header: FeaturesHeader, name: string, endpoint: Endpoint): boolean;
    /** The body that asks for them. */
    ask(written: Written, names: readonly string[]): Written;
  };
  /** Where its answers have JSON that is only carried: `carriedIn` of neutral/carried.ts has its text. */
  readonly carries: OpaquePaths;
  /** @param body parsed JSON. @throws WeirError `upstream_invalid_response` */
  readReply(body: unknown): NeutralReply;
  streamReader(maxEventBytes: number): StreamReader;
  readonly restating: Restating;
}
