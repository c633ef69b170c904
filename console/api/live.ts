/**
 * The live stream of the org, one for all tabs of a browser: over HTTP/1.1 it would otherwise take one of the six connections that a
 * browser has for all of them. The tab that holds a lock reads the stream and passes its events on; when that tab is closed another gets
 * the lock, and goes on where the first was. Where a browser has no locks (a page of plain http from another machine), each tab reads for
 * itself, and only while it is seen.
 */
import { batch, type ReadonlySignal, signal, useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { me } from "../app/session.ts";
import { ApiError, headersOf, pathOf, sent } from "./call.ts";
import { readEvents, rest, whileSeen } from "./event-stream.ts";
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

/** What goes from tab to tab. `who`: a tab that has just begun asks what is known; `known` answers that tab alone. */
type Message =
  | { readonly kind: "events"; readonly events: readonly LiveEvent[] }
  | { readonly kind: "who"; readonly tab: number }
  | { readonly kind: "known"; readonly tab: number; readonly state: LiveState }
  | { readonly kind: "fault"; readonly message: string };

class LiveTab {
  readonly #name: string;
  readonly #me = Math.random();
  /** Undefined where there are no locks: what each tab reads is its own. */
  readonly #others: BroadcastChannel | undefined;
  readonly #over = new AbortController();
  #waiting: LiveEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reads = false;

  constructor(org: string) {
    // Another person of this browser has streams of their own: another role may see other calls.
    this.#name = `weir.live.${me.peek()?.user.id}.${org}`;
    if (navigator.locks === undefined) {
      void whileSeen(this.#over.signal, (signal) => this.#readOn(signal));
      return;
    }
    this.#others = new BroadcastChannel(this.#name);
    this.#others.onmessage = ({ data }: MessageEvent<Message>) => this.#heard(data);
    this.#tell({ kind: "who", tab: this.#me });
    void this.#readInTurn();
  }

  end(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
    this.#others?.close();
  }

  async #readInTurn(): Promise<void> {
    const { signal } = this.#over;
    const read = () => this.#readOn(signal);
    await navigator.locks.request(this.#name, { signal }, read).catch(() => undefined);
  }

  /** @param signal when it is to end */
  async #readOn(signal: AbortSignal): Promise<void> {
    this.#reads = true;
    while (!signal.aborted) {
      try {
        await this.#readOnce(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error instanceof ApiError ? error : new ApiError(0, { message: String(error) }, ""));
      }
      await rest(AGAIN_MS, signal);
    }
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    // What has come is behind the position, drawn or not.
    this.#draw();
    const position = state.peek().position;
    const answer = await sent(pathOf("watchLive", {}), {
      headers: {
        ...headersOf("GET"),
        accept: "text/event-stream",
        ...(position !== "" && { "last-event-id": position }),
      },
      signal,
    });
    fault.value = undefined;
    await readEvents(answer, (sent) => {
      const events = sent.map(({ name, id, data }) => ({ name, id, data: JSON.parse(data) }));
      this.#tell({ kind: "events", events });
      this.#take(events);
    });
  }

  #failed(error: ApiError): void {
    fault.value = error;
    this.#tell({ kind: "fault", message: error.message });
  }

  #tell(message: Message): void {
    this.#others?.postMessage(message);
  }

  #heard(message: Message): void {
    switch (message.kind) {
      case "events":
        fault.value = undefined;
        this.#take(message.events);
        break;
      case "who":
        if (!this.#reads) break;
        // The asker did not hear what waits here: it was passed on before.
        this.#draw();
        if (state.peek().position !== "")
          this.#tell({ kind: "known", tab: message.tab, state: state.peek() });
        break;
      case "known":
        if (message.tab !== this.#me) break;
        // It has all that was heard before it.
        this.#waiting = [];
        state.value = message.state;
        break;
      case "fault":
        fault.value = new ApiError(0, { message: message.message }, "");
        break;
    }
  }

  #take(events: readonly LiveEvent[]): void {
    this.#waiting.push(...events);
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    state.value = after(state.peek(), waiting);
  }
}

/** The live state of an org, for as long as the caller is on the page. @param org id; empty: nothing is listened to */
export function useLive(org: string): Live {
  useEffect(() => {
    if (org === "") return undefined;
    lookers += 1;
    if (listened.peek() !== org) listenTo(org);
    return () => {
      lookers -= 1;
      setTimeout(() => {
        if (lookers === 0) listenTo("");
      }, LINGER_MS);
    };
  }, [org]);
  // The page of another org is drawn once before it listens: it must not show what this one has.
  const own = useComputed(() => (listened.value === org ? state.value : NOTHING_YET));
  return { state: own, fault };
}

/** Org of which `state` is. */
const listened = signal("");

function listenTo(org: string): void {
  current?.end();
  batch(() => {
    listened.value = org;
    state.value = NOTHING_YET;
    fault.value = undefined;
  });
  current = org === "" ? undefined : new LiveTab(org);
}
