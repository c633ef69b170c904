/** Background responses as clients ask for them by id: their state, their events, and their end before its time. */
import type { Clock, Timers } from "../../../base/clock.ts";
import { fail, WeirError } from "../../../base/errors.ts";
import type { Body, BodyClient } from "../../../base/operation/body.ts";
import { FORMATS } from "../../../wire/formats.ts";
import type { DetachedCalls } from "../detached/detached-calls.ts";
import type { ReadableCall } from "../detached/readable-call.ts";
import type { Place, StoredResponse } from "../kept/kept-rows.ts";
import type { ResponseOwner, StoredResponses } from "../kept/stored-responses.ts";

export interface RunningResponsesDeps {
  readonly responses: StoredResponses;
  readonly calls: Pick<DetachedCalls, "readable">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Silence before a comment is sent in a stream, milliseconds; 0: none is. */
  readonly keepAliveMs: number;
}

/** Whose response it is: the org is that of the project. */
export interface Asker extends ResponseOwner {
  readonly orgId: string;
}

const { responses: FORMAT } = FORMATS;
/** Behind all events: a reader from here on gets only what is still to come. */
export const END = 999_999_999_999_999;
/** A cancel is answered within this time, as OpenAI has it. */
const CANCEL_MS = 10_000;
/** The last state of a call at another cell may be on its way. */
const AGAIN_MS = 50;

export class RunningResponses {
  readonly #deps: RunningResponsesDeps;

  constructor(deps: RunningResponsesDeps) {
    this.#deps = deps;
  }

  /** The response as it is now, JSON text. */
  shown({ response, background }: StoredResponse): string {
    return background?.status === "in_progress"
      ? (FORMAT.background?.inProgress(response) ?? response)
      : response;
  }

  /**
   * The events of a stored response. The body fails with a WeirError 400 before its first part where they are not all kept any more.
   * @param last as for `ReadableCall.tell`
   * @throws WeirError 400 where there are none
   */
  async events(asker: Asker, id: string, stored: StoredResponse, last: string): Promise<Body> {
    if (stored.background === undefined) throw notStreamed(NOT_IN_BACKGROUND);
    const call = await this.#callOf(asker, id, stored.background);
    if (call === undefined && stored.background.status === "in_progress")
      throw fail("gateway_unavailable", AWAY, { retryAfterMs: 1000 });
    // What failed with its cell is told so. Any other end is known, and no event may say another one.
    if (call === undefined || (call.isGone === true && hasEndedOtherwise(stored)))
      throw notStreamed(NO_LONGER);
    const { clock, keepAliveMs } = this.#deps;
    const options = { clock, keepAliveMs, filler: FORMAT.keepAlive };
    return (client) => call.tell(last, new ResponseClient(client), options);
  }

  /**
   * Ends the response, and resolves with its last state: cancelled, unless it ended in the same moment.
   * @throws WeirError 400 where it has ended, or its client waits for it; 503 where its cell cannot be reached
   */
  async cancel(asker: Asker, id: string, stored: StoredResponse): Promise<StoredResponse | undefined> {
    const { background } = stored;
    if (background === undefined) throw notCancelled("Cannot cancel a synchronous response.");
    const { status } = background;
    if (status === "cancelled") return stored;
    if (status !== "in_progress") throw notCancelled(`Cannot cancel ${WITH_ARTICLE[status]} response.`);
    const { clock, responses, timers } = this.#deps;
    const untilMs = clock.monotonic() + CANCEL_MS;
    const isLate = () => clock.monotonic() >= untilMs;
    const call = await this.#callOf(asker, id, background);
    if (call !== undefined) {
      await call.cancel();
      await this.#ended(call, isLate);
    }
    for (;;) {
      const now = await responses.get(asker, id);
      if (now?.background?.status !== "in_progress") return now;
      if (isLate()) throw fail("gateway_unavailable", AWAY, { retryAfterMs: 1000 });
      await new Promise<void>((resolve) => void timers.after(AGAIN_MS, resolve));
    }
  }

  /** Resolves once the call has ended, or it is late. */
  async #ended(call: ReadableCall, isLate: () => boolean): Promise<void> {
    const { clock, timers } = this.#deps;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listener: BodyClient = {
      get gone() {
        return isLate();
      },
      write: () => true,
      end: resolve,
      fail: reject,
      onDrain() {},
    };
    const forget = timers.after(CANCEL_MS, resolve);
    try {
      call.tell(String(END), listener, { clock, keepAliveMs: 0, filler: "" });
      await promise;
    } finally {
      forget();
    }
  }

  /** The call at the cell that runs it, or ran it. @throws WeirError 503 where that is away */
  async #callOf(
    { orgId, projectId, environment }: Asker,
    id: string,
    { cell }: Place,
  ): Promise<ReadableCall | undefined> {
    const found = await this.#deps.calls.readable(id.slice(FORMAT.idPrefix.length), cell);
    if (found === undefined) return undefined;
    const { call } = found;
    const isOwn = call.orgId === orgId && call.projectId === projectId && call.environment === environment;
    return isOwn ? found : undefined;
  }
}

const hasEndedOtherwise = ({ background }: StoredResponse): boolean =>
  background?.status !== "in_progress" && background?.status !== "failed";

const WITH_ARTICLE = { completed: "a completed", failed: "a failed", incomplete: "an incomplete" } as const;

const AWAY = "The gateway that makes this response cannot be reached now.";
const NOT_IN_BACKGROUND = "This response cannot be streamed because it was not created with background=true.";
const NO_LONGER =
  "This response can no longer be streamed: its events are kept for ten minutes after its end. Without `stream` it is read as a whole.";

const notCancelled = (message: string) => fail("invalid_value", message, { param: "/id" });

const notStreamed = (message: string) => fail("invalid_value", message, { param: "/stream" });

/** In the words of this format: the log's own error names a header that its clients do not send. */
function lostOf(error: unknown): unknown {
  if (!(error instanceof WeirError) || error.kind !== "state") return error;
  const from = error.details?.kept_from;
  const message = `Events of this response are kept from number ${from} on: it is longer than what is kept of one. Without \`stream\` it is read as a whole.`;
  return typeof from === "number" && from > 0
    ? fail("invalid_value", message, { param: "/starting_after", details: { kept_from: from } })
    : notStreamed(NO_LONGER);
}

/** Gets the events of a response, and errors in the words of this format. */
class ResponseClient implements BodyClient {
  readonly #client: BodyClient;

  constructor(client: BodyClient) {
    this.#client = client;
  }

  get gone(): boolean {
    return this.#client.gone;
  }

  write(part: Uint8Array): boolean {
    return this.#client.write(part);
  }

  end(): void {
    this.#client.end();
  }

  fail(error: unknown): void {
    this.#client.fail(lostOf(error));
  }

  onDrain(resume: () => void): void {
    this.#client.onDrain(resume);
  }
}
