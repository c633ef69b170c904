/**
 * What a wire format must offer for the simulator to speak it: where its calls arrive, how a request is read into what
 * the answer depends on, and how the answer is said, whole and streamed. `dialects.ts` lists them all.
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
  /** Carries usage, or ends the stream, apart from what it reports on; see `usage: "split"`. */
  readonly late?: true;
}

/** What is put in a frame: an event without how it is sent. */
export type Said = Pick<StreamEvent, "data" | "name">;

/** An error to be told, as the instruction has it or as the simulator's own checks found it. */
export interface SaidError {
  readonly status: number;
  readonly message: string;
  /** In place of the dialect's usual type and code for the status. */
  readonly type?: string;
  readonly code?: string;
  /** The field at fault. */
  readonly param?: string;
}

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** What all that is POSTed to a provider has in common: where it arrives and how it is refused. */
export interface SimulatedPost {
  /** Matches the path of a POST; the first group is what stands before it, where `/with/<instruction>` may be. */
  readonly path: RegExp;
  /** An error's body in the dialect's envelope. */
  error(error: SaidError): string;
  /** Headers that go with an error. */
  errorHeaders?(error: SaidError): Headers;
  /** @throws WeirError for headers that the provider refuses whatever the body; the key is checked elsewhere */
  checkHeaders?(headers: Headers): void;
}

/** A dialect in which models answer. `Request` has what this dialect's answers need besides. */
export interface SimulatedDialect<Request extends SimulatedRequest = SimulatedRequest> extends SimulatedPost {
  /**
   * `match`: of {@link path} on the target's path. `headers`: those of {@link variesBy}; of others the reading must not
   * depend, because a request that differs in nothing else is answered from memory.
   * @throws WeirError as a provider would refuse the request
   */
  read(body: Buffer, match: RegExpExecArray, headers: Headers): Request;
  /** Names of the headers on which the answer depends. */
  readonly variesBy?: readonly string[];
  /** The body of an answer that is not streamed. */
  whole(request: Request, instruction: Instruction, answer: Answer): string;
  /** The events of a streamed answer, its last included. */
  events(request: Request, instruction: Instruction, answer: Answer): StreamEvent[];
  /** Content type of a stream. */
  readonly streamType: string;
  /** The bytes of an event on the wire. */
  frame(event: Said, instruction: Instruction): Buffer;
  /** The event that tells an error inside a stream of which `sent` events have been sent. */
  errorEvent(error: SaidError, sent: number): Said;
  /** In dialects that have one, an answer that says of itself that it failed: the body, or a stream's last event. */
  failed?(request: Request, answer: Answer, error: SaidError, sent: number): Said;
  /** The header in which the provider names the request. */
  readonly requestIdHeader?: string;
}
