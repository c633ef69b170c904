/**
 * One request over one connection, and the start of its answer. It ends once, whatever the receiver does afterwards, and
 * leaves its connection either free for the next request or destroyed.
 */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request as openRequest } from "../base/network/node-http.ts";
import type { CheckedAgent, Dial, DialArgs } from "./agent.ts";
import { failureOf, type OutboundError } from "./failure.ts";

export interface AttemptRequest {
  readonly method: string;
  readonly path: string;
  /** Alternating names and values, `host` and `content-length` among them. */
  readonly headers: readonly string[];
  /** A string is written together with the head. */
  readonly body: Uint8Array | string;
  /** Names the sink that takes the answer's body as it comes. Without this function the answer has the first 64 KB of its body. */
  readonly sinkOf?: SinkOf | undefined;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Takes a body as it comes over the line. */
export interface BodySink {
  /** @returns false: no more of it is wanted, and the connection is closed */
  take(chunk: Buffer): boolean;
}

/** Returns the sink for the body of an answer with this head; undefined where the caller wants no body. */
export type SinkOf = (head: AnswerHead) => BodySink | undefined;

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Alternating names and values of all that its header has, as they came: 16 KB at most, and as hostile as the body. */
  readonly fields: readonly string[];
  /** As it came over the line: no content coding is undone. Empty where a sink took it. */
  readonly body: Buffer;
  /** Whether there was more of it. */
  readonly isCut: boolean;
}

/** What callers read of an answer's header; a longer value counts as none. */
export interface AnswerHeaders {
  readonly retryAfter?: string;
  readonly contentType?: string;
}

export type Outcome =
  | { readonly answer: Answer }
  | {
      readonly failure: OutboundError;
      /** A kept connection that was closed without a byte of an answer: the receiver may not have seen the request. */
      readonly isStale: boolean;
    };

/** Bytes read of an answer's body. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Bytes of the answer's head, and of each interim answer's; the time limit bounds how many there are. */
const MAX_HEAD_BYTES = 16 * 1024;
const MAX_FIELD_LENGTH = 256;

/**
 * @param signal ends the attempt with its reason, an OutboundError
 * @throws TypeError if the method or a header has characters that HTTP forbids
 */
export async function attempt(
  agent: CheckedAgent,
  dial: Dial,
  { method, path, headers, body, sinkOf }: AttemptRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  const args: DialArgs = {
    dial,
    agent,
    method,
    path,
    headers,
    host: dial.address.text,
    port: dial.port,
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
  };
  const request = openRequest(args);
  const onAbort = () => request.destroy(signal.reason);
  try {
    const outcome = outcomeOf(request, dial, sinkOf);
    signal.addEventListener("abort", onAbort);
    request.end(body);
    return await outcome;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function outcomeOf(request: ClientRequest, dial: Dial, sinkOf: SinkOf | undefined): Promise<Outcome> {
  return new Promise((resolve) => {
    let bytesBefore = 0;
    let isOver = false;
    const onFailure = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      const failure = failureOf(error, dial.phase);
      const isSilent = (request.socket?.bytesRead ?? 0) === bytesBefore;
      resolve({ failure, isStale: request.reusedSocket && isSilent && failure.kind === "reset" });
    };
    request.once("socket", (socket) => {
      bytesBefore = socket.bytesRead;
      if (request.reusedSocket) dial.phase = "open";
    });
    request.on("error", onFailure);
    // Behind all others: an answer that Node drops without a word, such as an upgrade that nobody asked for.
    request.once("close", () => onFailure(undefined));
    request.once("response", (response) => {
      const onAnswer = (answer: Answer) => {
        if (isOver) return;
        isOver = true;
        resolve({ answer });
        // Nobody waits for the rest of either of them.
        if (answer.isCut || !request.writableFinished) request.destroy();
      };
      if (sinkOf === undefined) readAnswer(response, onFailure, onAnswer);
      else passAnswer(response, sinkOf, onFailure, onAnswer);
    });
  });
}

function readAnswer(
  response: IncomingMessage,
  onFailure: (error: unknown) => void,
  onAnswer: (answer: Answer) => void,
): void {
  const chunks: Buffer[] = [];
  let left = MAX_ANSWER_BYTES;
  const end = (isCut: boolean) => {
    const body = Buffer.concat(chunks);
    const { statusCode: status = 0, rawHeaders: fields } = response;
    onAnswer({ status, headers: headersOf(response), fields, body, isCut });
  };
  response.on("error", onFailure);
  response.on("data", (chunk: Buffer) => {
    if (left < 0) return;
    if (left > 0) chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left < 0) end(true);
  });
  response.once("end", () => end(false));
}

/** Passes the body on as it comes. */
function passAnswer(
  response: IncomingMessage,
  sinkOf: SinkOf,
  onFailure: (error: unknown) => void,
  onAnswer: (answer: Answer) => void,
): void {
  const { statusCode: status = 0, headers, rawHeaders: fields } = response;
  let isOver = false;
  const end = (isCut: boolean) => {
    if (isOver) return;
    isOver = true;
    onAnswer({ status, headers: headersOf(response), fields, body: NO_BODY, isCut });
  };
  response.on("error", onFailure);
  const sink = sinkOf({ status, headers });
  if (sink === undefined) {
    end(true);
    return;
  }
  response.on("data", (chunk: Buffer) => {
    if (!isOver && !sink.take(chunk)) end(true);
  });
  response.once("end", () => end(false));
}

const NO_BODY = Buffer.alloc(0);

function headersOf({ headers }: IncomingMessage): AnswerHeaders {
  const { "retry-after": retryAfter, "content-type": contentType } = headers;
  return {
    ...(isShort(retryAfter) && { retryAfter }),
    ...(isShort(contentType) && { contentType }),
  };
}

const isShort = (value: string | undefined): value is string =>
  value !== undefined && value.length <= MAX_FIELD_LENGTH;
