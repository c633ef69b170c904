/**
 * The live stream of the org, one for all tabs of a browser: over HTTP/1.1 it would otherwise take one of the six connections that a
 * browser has for all of them. The tab that holds a lock reads the stream and passes its events on; when that tab is closed another gets
 * the lock, and goes on where the first was. Where a browser has no locks (a page of plain http from another machine), each tab reads for
 * itself.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, headersOf, pathOf, sent } from "./call.ts";
import { EventReader } from "./event-reader.ts";
import { after, type LiveEvent, type LiveState, NOTHING_YET } from "./live-state.ts";

export interface Live {
  readonly state: ReadonlySignal<LiveState>;
  /** Why it does not come now; undefined while it does. It is tried again by itself. */
  readonly fault: ReadonlySignal<ApiError | undefined>;
}

const state = signal<LiveState>(NOTHING_YET);
const fault = signal<ApiError | undefined>(undefined);
/** Pages and parts that look at it. */
let lookers = 0;
let current: LiveTab | undefined;

/** Draws at most so often: hundreds of events a second leave the page quick. */
const DRAW_MS = 200;
const AGAIN_MS = 2000;
/** An org whose stream was left keeps what it knew for so long: the next page may look again. */
const LINGER_MS = 1000;

/** What goes from tab to tab. `who`: a tab that has just begun asks what is known. */
type Message =
  | { readonly kind: "events"; readonly events: readonly LiveEvent[] }
  | { readonly kind: "who" }
  | { readonly kind: "known"; readonly state: LiveState }
  | { readonly kind: "fault"; readonly message: string };

class LiveTab {
  readonly #name: string;
  readonly #channel: BroadcastChannel;
  readonly #over = new AbortController();
  #waiting: LiveEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reads = false;

  constructor(org: string) {
    this.#name = `weir.live.${org}`;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#heard(data);
    this.#channel.postMessage({ kind: "who" } satisfies Message);
    void this.#begin();
  }

  end(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
    this.#channel.close();
  }

  async #begin(): Promise<void> {
    const read = () => this.#readOn();
    if (navigator.locks === undefined) return await read();
    await navigator.locks.request(this.#name, { signal: this.#over.signal }, read).catch(() => undefined);
  }

  /** Until the tab no longer looks. */
  async #readOn(): Promise<void> {
    this.#reads = true;
    while (!this.#over.signal.aborted) {
      try {
        await this.#readOnce();
      } catch (error) {
        if (this.#over.signal.aborted) return;
        this.#failed(error instanceof ApiError ? error : new ApiError(0, { message: String(error) }, ""));
      }
      await this.#rest();
    }
  }

  async #readOnce(): Promise<void> {
    const position = state.peek().position;
    const answer = await sent(pathOf("watchLive", {}), {
      headers: {
        ...headersOf("GET"),
        accept: "text/event-stream",
        ...(position !== "" && { "last-event-id": position }),
      },
      signal: this.#over.signal,
    });
    fault.value = undefined;
    const reader = new EventReader();
    const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await pieces?.read(); piece?.done === false; piece = await pieces?.read()) {
      const events = reader
        .read(piece.value)
        .map(({ name, id, data }) => ({ name, id, data: JSON.parse(data) }));
      if (events.length === 0) continue;
      this.#channel.postMessage({ kind: "events", events } satisfies Message);
      this.#take(events);
    }
  }

  #rest(): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, AGAIN_MS);
      this.#over.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        done();
      });
    });
  }

  #failed(error: ApiError): void {
    fault.value = error;
    this.#channel.postMessage({ kind: "fault", message: error.message } satisfies Message);
  }

  #heard(message: Message): void {
    switch (message.kind) {
      case "events":
        fault.value = undefined;
        this.#take(message.events);
        break;
      case "who":
        if (this.#reads && state.peek().position !== "")
          this.#channel.postMessage({ kind: "known", state: state.peek() } satisfies Message);
        break;
      case "known":
        if (state.peek().position === "") state.value = message.state;
        break;
      case "fault":
        fault.value = new ApiError(0, { message: message.message }, "");
        break;
    }
  }

  #take(events: readonly LiveEvent[]): void {
    this.#waiting.push(...events);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const waiting = this.#waiting;
      this.#waiting = [];
      state.value = after(state.value, waiting);
    }, DRAW_MS);
  }
}

/** The live state of an org, for as long as the caller is on the page. @param org id; empty: nothing is listened to */
export function useLive(org: string): Live {
  useEffect(() => {
    if (org === "") return undefined;
    lookers += 1;
    if (listened !== org) listenTo(org);
    return () => {
      lookers -= 1;
      setTimeout(() => {
        if (lookers === 0) listenTo("");
      }, LINGER_MS);
    };
  }, [org]);
  return { state, fault };
}

let listened = "";

function listenTo(org: string): void {
  current?.end();
  listened = org;
  state.value = NOTHING_YET;
  fault.value = undefined;
  current = org === "" ? undefined : new LiveTab(org);
}
