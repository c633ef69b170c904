/** Model calls of the playground: a generation that is streamed, by the person's playground key and without their session. */
import { ApiError, asked, type ErrorBody } from "./call.ts";
import { EventReader, type ReadEvent } from "./event-reader.ts";
import { playgroundSecret } from "./playground-key.ts";

interface Asked {
  /** Id of the project whose key pays. */
  readonly project: string;
  /** A body of `POST /v1/svc/generate`, without `stream`. */
  readonly body: object;
  readonly signal: AbortSignal;
  /** The answer has begun: the id by which the request is found. */
  readonly onRequest: (requestId: string) => void;
  readonly onEvents: (events: readonly ReadEvent[]) => void;
}

/**
 * Reads a generation to its end.
 * @throws ApiError where the call is refused, or its stream tells an error or is cut
 * @throws DOMException `AbortError` once the signal has told it
 */
export async function generate(call: Asked): Promise<void> {
  const answer = await begun(call);
  call.onRequest(answer.headers.get("x-svc-request-id") ?? "");
  const reader = new EventReader();
  const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let isWhole = false;
  for (let piece = await next(pieces); piece?.done === false; piece = await next(pieces)) {
    const events = reader.read(piece.value).map(({ name, data }) => ({ name, data: JSON.parse(data) }));
    const failed = events.find(({ name }) => name === "error");
    call.onEvents(events.filter((event) => event !== failed));
    if (failed !== undefined) throw errorOf(failed.data);
    isWhole ||= events.some(({ name }) => name === "generation.completed");
  }
  if (!isWhole) throw new ApiError(0, { message: "The answer ended before it was whole.", code: "cut" }, "");
}

/** The secret may have ended since another browser asked for one: another is asked for, once. */
async function begun(call: Asked): Promise<Response> {
  const secret = await playgroundSecret(call.project);
  try {
    return await sentWith(secret, call);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "invalid_key") throw error;
  }
  call.signal.throwIfAborted();
  return await sentWith(await playgroundSecret(call.project, secret), call);
}

const sentWith = (secret: string, { body, signal }: Asked): Promise<Response> =>
  asked("/v1/svc/generate", {
    method: "POST",
    credentials: "omit",
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ ...body, stream: true }),
    signal,
  });

/** A connection that breaks is no fault of this page. */
async function next(pieces: ReadableStreamDefaultReader<string> | undefined) {
  try {
    return await pieces?.read();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, { message: "The connection to the gateway broke.", code: "cut" }, "");
  }
}

function errorOf(data: Readonly<Record<string, unknown>>): ApiError {
  const body = (data.error ?? {}) as ErrorBody & { readonly status?: number };
  return new ApiError(typeof body.status === "number" ? body.status : 0, body, "");
}
