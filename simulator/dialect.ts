/**
 * The interface of a simulated wire format: its paths, how a request is parsed into what the answer depends on, and how
 * answers are written, non-streamed and streamed. `dialects.ts` lists them all.
 */
import type { Answer } from "./answer.ts";
import type { Instruction } from "./instruction.ts";
import type { SimulatedRequest } from "./simulated-request.ts";

/** One event of a stream and how often it is sent. */
export interface StreamEvent {
  /** JSON text, or a word such as `[DONE]`. */
  readonly data: string;
  /** The event's name, in dialects that name their events. */
  readonly name?: string;
  readonly times: number;
  /** The event carries usage, or ends the stream, separately from the content; see `usage: "split"`. */
  readonly late?: true;
}

/** The framed content of an event. */
export type EventContent = Pick<StreamEvent, "data" | "name">;

/** An error to report, from the instruction or from the simulator's own checks. */
export interface ReportedError {
  readonly status: number;
  readonly message: string;
  /** Overrides the dialect's usual type and code for the status. */
  readonly type?: string;
  readonly code?: string;
  /** The invalid field. */
  readonly param?: string;
}

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** Common to all simulated POST routes: path and errors. */
export interface SimulatedPost {
  /** Matches the path of a POST; the first group is the prefix, which may contain `/with/<instruction>`. */
  readonly path: RegExp;
  /** An error's body in the dialect's envelope. */
  error(error: ReportedError): string;
  /** Headers that go with an error. */
  errorHeaders?(error: ReportedError): Headers;
  /** @throws WeirError for headers that the provider refuses whatever the body; the key is checked elsewhere */
  checkHeaders?(headers: Headers): void;
}

/** A dialect in which models answer. `Request` adds what this dialect's answers need. */
export interface SimulatedDialect<Request extends SimulatedRequest = SimulatedRequest> extends SimulatedPost {
  /**
   * `match`: of {@link path} on the target's path. `headers`: those of {@link variesBy}; the result must not depend on
   * others, because requests that are equal otherwise are answered from memory.
   * @throws WeirError as a provider would refuse the request
   */
  read(body: Buffer, match: RegExpExecArray, headers: Headers): Request;
  /** Names of the headers on which the answer depends. */
  readonly variesBy?: readonly string[];
  /** The body of a non-streamed answer. */
  whole(request: Request, instruction: Instruction, answer: Answer): string;
  /** The events of a streamed answer, its last included. */
  events(request: Request, instruction: Instruction, answer: Answer): StreamEvent[];
  /** Content type of a stream. */
  readonly streamType: string;
  /** The bytes of an event on the wire. */
  frame(event: EventContent, instruction: Instruction): Buffer;
  /** An error event within a stream, after `sent` events. */
  errorEvent(error: ReportedError, sent: number): EventContent;
  /**
   * In dialects that have it, an answer with status 200 that reports its own failure: the body, or a stream's last
   * event.
   */
  failed?(request: Request, answer: Answer, error: ReportedError, sent: number): EventContent;
  /** The provider's header for the request id. */
  readonly requestIdHeader?: string;
}
