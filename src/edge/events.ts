/** Server-sent events over a reply: https://html.spec.whatwg.org/multipage/server-sent-events.html */
import type { ClientReply } from "../client-reply.ts";
import type { EventSink } from "../event-stream.ts";

const HEADERS = "content-type: text/event-stream\r\n";
const KEEP_ALIVE = ": keep-alive\n\n";
/** Proxies end connections that are silent for half a minute. */
const KEEP_ALIVE_MS = 15_000;

export class ReplyEvents implements EventSink {
  isBehind = false;
  /** The answer has begun: errors can only be sent as events now. */
  isOpen = false;
  readonly #reply: ClientReply;
  readonly #headers: string;
  #isOver = false;
  #onOver: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param headers further header lines, each with its line end */
  constructor(reply: ClientReply, headers: string) {
    this.#reply = reply;
    this.#headers = HEADERS + headers;
    reply.onGone(() => this.#over());
  }

  /** Sends the head, so that the client knows it is connected even if no event comes for long. */
  open(): void {
    if (this.isOpen || this.#isOver) return;
    this.isOpen = true;
    this.#reply.openStream(this.#headers, KEEP_ALIVE);
    this.#write(KEEP_ALIVE);
    this.#timer = setInterval(() => {
      if (!this.isBehind) this.#write(KEEP_ALIVE);
    }, KEEP_ALIVE_MS).unref();
  }

  send(data: unknown, { event, id }: { readonly event?: string; readonly id?: string } = {}): boolean {
    if (this.#isOver) return true;
    this.open();
    const named = event === undefined ? "" : `event: ${oneLine(event)}\n`;
    const numbered = id === undefined ? "" : `id: ${oneLine(id)}\n`;
    return this.#write(`${named}${numbered}data: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    if (this.#isOver) return;
    this.open();
    this.#reply.end();
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
      });
    }
    return false;
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#onOver?.();
  }
}

/** A line end would start a new field. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, " ");
