/** Server-sent events over a reply: https://html.spec.whatwg.org/multipage/server-sent-events.html */

import { type EventNames, type EventSink, eventText } from "../base/operation/event-stream.ts";
import type { ClientReply } from "../inference/client-reply.ts";

/** Line of the head. */
export const EVENTS_TYPE = "content-type: text/event-stream\r\n";
const KEEP_ALIVE = ": keep-alive\n\n";
/** Proxies end connections that are silent for half a minute. */
const KEEP_ALIVE_MS = 15_000;
/** A credential that ends ends its streams within this time. */
const CHECK_MS = 1000;

export class ReplyEvents implements EventSink {
  isBehind = false;
  /** The answer has begun: errors can only be sent as events now. */
  isOpen = false;
  readonly #reply: ClientReply;
  readonly #headers: string;
  readonly #check: () => void;
  readonly #onRefused: (error: unknown) => void;
  #isOver = false;
  #onOver: (() => void) | undefined;
  #onReady: (() => void) | undefined;
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * @param headers further header lines, each with its line end
   * @param check throws once the client may read no longer: the stream ends with that error
   */
  constructor(reply: ClientReply, headers: string, check: () => void, onRefused: (error: unknown) => void) {
    this.#reply = reply;
    this.#headers = EVENTS_TYPE + headers;
    this.#check = check;
    this.#onRefused = onRefused;
    reply.onGone(() => this.#over());
  }

  /** Sends the head, so that the client knows it is connected even if no event comes for long. */
  open(): void {
    if (this.isOpen || this.#isOver) return;
    this.isOpen = true;
    this.#reply.openStream(this.#headers, KEEP_ALIVE);
    this.#write(KEEP_ALIVE);
    const keepAlive = () => this.isBehind || this.#write(KEEP_ALIVE);
    this.#timers.push(
      setInterval(keepAlive, KEEP_ALIVE_MS).unref(),
      setInterval(() => this.#checkAgain(), CHECK_MS).unref(),
    );
  }

  #checkAgain(): void {
    try {
      this.#check();
    } catch (error) {
      this.#onRefused(error);
    }
  }

  send(data: unknown, names?: EventNames): boolean {
    return this.sendText(eventText(data, names));
  }

  sendText(events: string): boolean {
    if (this.#isOver) return true;
    this.open();
    return this.#write(events);
  }

  onReady(ready: () => void): void {
    if (this.isBehind) this.#onReady = ready;
    else ready();
  }

  end(): void {
    if (this.#isOver) return;
    this.open();
    this.#reply.end();
    this.#over();
  }

  /** The request is refused before the first event: another answer is sent. */
  abandon(): void {
    this.#over();
  }

  onOver(over: () => void): void {
    if (this.#isOver) over();
    else this.#onOver = over;
  }

  #write(text: string): boolean {
    if (this.#reply.write(Buffer.from(text))) return true;
    if (!this.isBehind) {
      this.isBehind = true;
      this.#reply.onDrain(() => {
        this.isBehind = false;
        const ready = this.#onReady;
        this.#onReady = undefined;
        ready?.();
      });
    }
    return false;
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#onOver?.();
  }
}
