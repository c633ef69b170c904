/**
 * What a detached call says, read from its own stream: from the start, and where the connection breaks, from behind the last event that
 * came. A tab that is not seen reads nothing, and goes on where it was once it is.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, headersOf, pathOf, sent } from "../../api/call.ts";
import type { SentEvent } from "../../api/event-reader.ts";
import { readEvents, rest, whileSeen } from "../../api/event-stream.ts";
import type { Turn } from "../../text/canonical.ts";
import { GrowingCall } from "./growing-call.ts";

export interface Watched {
  /** `absent`: it is not detached, or its stream is kept no longer. */
  readonly is: "reading" | "ended" | "failed" | "absent";
  readonly turns: readonly Turn[];
  /** Why it failed; empty where it did not. */
  readonly failure: string;
  /** Characters that were too many for a page. */
  readonly cut: number;
  /** Events at the beginning that are not kept any more. */
  readonly lost: number;
  /** The answer of a call that is no stream: its JSON, once it is there. */
  readonly whole: string | undefined;
}

export interface CallStream {
  readonly shown: ReadonlySignal<Watched>;
  /** Why nothing comes now; undefined while it does. It is tried again by itself where that may help. */
  readonly fault: ReadonlySignal<ApiError | undefined>;
}

const NOTHING_YET: Watched = { is: "reading", turns: [], failure: "", cut: 0, lost: 0, whole: undefined };

/** Draws at most so often. */
const DRAW_MS = 200;
const AGAIN_MS = 1000;
/** A stream that so often ended without a word has none left, though its last event says nothing of an end. */
const MOST_SILENT = 2;

class CallReader implements CallStream {
  readonly shown = signal<Watched>(NOTHING_YET);
  readonly fault = signal<ApiError | undefined>(undefined);
  readonly #id: string;
  readonly #over = new AbortController();
  readonly #growing = new GrowingCall();
  #is: Watched["is"] = "reading";
  #lost = 0;
  /** Streams one after the other that ended without a word. */
  #silent = 0;
  #whole: string | undefined;
  /** Why a call that is no stream failed. */
  #failure = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  begin(): void {
    void whileSeen(this.#over.signal, (signal) => this.#readOn(signal));
  }

  end(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
  }

  async #readOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#readOnce(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error instanceof ApiError ? error : new ApiError(0, { message: BROKEN }, ""));
      }
      if (this.#is !== "reading") return this.#stop();
      await rest(AGAIN_MS, signal);
    }
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    const { position } = this.#growing;
    const answer = await sent(pathOf("readCallStream", { params: { id: this.#id } }), {
      headers: {
        ...headersOf("GET"),
        accept: "text/event-stream, application/json",
        ...(position !== "" && { "last-event-id": position }),
      },
      signal,
    });
    this.fault.value = undefined;
    if (!(answer.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      this.#whole = await answer.text();
      this.#is = "ended";
      return;
    }
    const length = await readEvents(answer, (events) => this.#take(events));
    this.#silent = length === 0 ? this.#silent + 1 : 0;
    if (this.#growing.isOver || this.#silent === MOST_SILENT)
      this.#is = this.#growing.failure === "" ? "ended" : "failed";
  }

  #failed(error: ApiError): void {
    const keptFrom = keptFromOf(error);
    if (keptFrom > Number(this.#growing.position || -1) + 1) {
      this.#lost += keptFrom - Number(this.#growing.position || -1) - 1;
      this.#growing.position = String(keptFrom - 1);
      return;
    }
    if (hasAnswer(error)) {
      this.#is = "failed";
      this.#failure = error.message;
    } else if (error.status === 404 || error.status === 409) this.#is = "absent";
    else this.fault.value = error;
    if (error.status === 400 || error.status === 403) this.#over.abort();
  }

  #take(events: readonly SentEvent[]): void {
    this.#growing.take(events);
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  #stop(): void {
    this.#over.abort();
    this.#draw();
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { turns, failure, cut } = this.#growing;
    this.shown.value = {
      is: this.#is,
      turns,
      failure: failure || this.#failure,
      cut,
      lost: this.#lost,
      whole: this.#whole,
    };
  }
}

const BROKEN = "The connection to the gateway broke. It is asked again.";

/** Number of the first event that is kept, where the beginning is not any more; else -1. */
function keptFromOf({ status, details }: ApiError): number {
  const { kept_from: keptFrom } = (details ?? {}) as { readonly kept_from?: unknown };
  return status === 409 && typeof keptFrom === "number" ? keptFrom : -1;
}

/** Whether it says that the call itself was answered with an error. */
const hasAnswer = ({ status, details }: ApiError): boolean =>
  status === 409 && typeof (details as { readonly answer?: unknown } | undefined)?.answer === "string";

/** What a call says, for as long as the caller is on the page. */
export function useCallStream(id: string): CallStream {
  const reader = useMemo(() => new CallReader(id), [id]);
  useEffect(() => {
    reader.begin();
    return () => reader.end();
  }, [reader]);
  return reader;
}
