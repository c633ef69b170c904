/** Clients of the tail: what each was sent, and clients that read slowly, leave and come back. */
import { z } from "zod";
import { systemTimers, type Timers } from "../../../src/base/clock.ts";
import type { EventNames, EventSink } from "../../../src/base/operation/event-stream.ts";
import { eventText } from "../../../src/base/operation/event-stream.ts";
import type { HttpHead } from "../../../src/base/operation/http-head.ts";
import type { Bench } from "../../support/analytics/bench.ts";
import { caller } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";

export interface SentEvent {
  readonly event: string;
  readonly id: string;
  readonly data: unknown;
}

interface Gap {
  readonly missed: number | null;
  readonly first: string;
  readonly last: string;
}

/** The machine's timers. What is due while they are held happens when they are released. */
export class HeldTimers implements Timers {
  #isHeld = false;
  #due: (() => void)[] = [];

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const act of this.#due.splice(0)) act();
  }

  after(delayMs: number, act: () => void): () => void {
    return systemTimers.after(delayMs, () => {
      if (this.#isHeld) this.#due.push(act);
      else act();
    });
  }
}

export class Client implements EventSink {
  readonly events: SentEvent[] = [];
  isBehind = false;
  /** Reads nothing until `read`. */
  isSlow = false;
  #isOver = false;
  #over: () => void = () => {};
  #ready: (() => void) | undefined;

  send(data: unknown, names?: EventNames): boolean {
    return this.sendText(eventText(data, names));
  }

  sendText(text: string): boolean {
    if (this.#isOver) return true;
    this.events.push(...eventsIn(text));
    this.isBehind = this.isSlow;
    return !this.isBehind;
  }

  onReady(ready: () => void): void {
    if (this.isBehind) this.#ready = ready;
    else ready();
  }

  /** Reads what was sent. */
  read(): void {
    this.isBehind = false;
    const ready = this.#ready;
    this.#ready = undefined;
    ready?.();
  }

  end(): void {
    this.leave();
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over();
  }

  onOver(over: () => void): void {
    if (this.#isOver) over();
    else this.#over = over;
  }

  get ids(): string[] {
    return this.events.filter(({ event }) => event === "request").map(({ id }) => id);
  }

  get gaps(): Gap[] {
    return this.events.filter(({ event }) => event === "gap").map(({ data }) => data as Gap);
  }
}

function eventsIn(text: string): SentEvent[] {
  return text
    .split("\n\n")
    .filter((part) => part !== "")
    .map((part) => {
      const fields = new Map(part.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      return {
        event: fields.get("event") ?? "",
        id: fields.get("id") ?? "",
        data: JSON.parse(fields.get("data") ?? "null"),
      };
    });
}

export const headOf = (lastEventId: string): HttpHead => ({
  ...NO_HEAD,
  header: (name) => (name === "last-event-id" ? lastEventId : ""),
});

/** Opens the tail as the edge does. */
export async function openTail(
  { analytics }: Bench,
  orgId: string,
  query: Record<string, string> = {},
  { client = new Client(), lastEventId = "", as = caller(orgId) } = {},
): Promise<Client> {
  const { tailRequests } = analytics.operations;
  const parsed = (tailRequests.query ?? z.never()).parse({ interval_ms: "500", ...query });
  const input = { params: undefined, query: parsed as never, body: undefined };
  await tailRequests.open(input, as, headOf(lastEventId), client, () => {});
  return client;
}
