/** The calls of an org that run now, at this cell and the others: what a stream begins with, and what it is told after a gap. */
import { z } from "zod";
import type { Signals } from "../requests/other-cells.ts";
import { passes, type RunningFilters, runningFilters } from "./live-filters.ts";
import { packedCall } from "./live-mark.ts";
import type { RunningCall, RunningCalls } from "./running-call.ts";

export interface Snapshot {
  /** Calls that pass. */
  readonly count: number;
  /** The newest of them, oldest first. */
  readonly calls: readonly RunningCall[];
}

/** Which calls are asked for. */
export interface AskedCalls {
  readonly orgId: string;
  /** The reader's own: one of `test` sees calls of test keys alone. */
  readonly environment: RunningCall["environment"];
  readonly filters: RunningFilters;
}

const MOST_CALLS = 500;
/** Other cells are waited for so long. */
const ASK_MS = 1000;

const question = z.object({
  token: z.int(),
  orgId: z.string().max(100),
  environment: z.enum(["live", "test"]),
  filters: runningFilters,
});
const answer = z.object({
  token: z.int(),
  count: z.int().min(0),
  calls: z.array(packedCall).max(MOST_CALLS),
});

export class Snapshots {
  readonly #signals: Signals | undefined;
  #running: RunningCalls = () => [];
  /** Tokens of questions under way → what other cells answered so far. */
  readonly #asked = new Map<number, { readonly orgId: string; readonly parts: Snapshot[] }>();
  #token = 0;
  /** By what is asked: the question under way, and the one that follows it for all who ask meanwhile. */
  readonly #current = new Map<string, Promise<Snapshot>>();
  readonly #next = new Map<string, Promise<Snapshot>>();

  /** @param signals undefined: the gateway is alone */
  constructor(signals: Signals | undefined) {
    this.#signals = signals;
    if (signals === undefined) return;
    signals.answers("live.running", async (content, from) => this.#answer(signals, content, from));
    signals.on("live.calls", (content) => this.#heard(content));
  }

  /** Asks it for the calls of this cell. */
  serve(running: RunningCalls): void {
    this.#running = running;
  }

  /** The calls that run after this call. No call of a cell that does not answer within a second is among them. */
  of(asked: AskedCalls): Promise<Snapshot> {
    if (this.#signals === undefined) return Promise.resolve(this.#own(asked));
    const key = JSON.stringify(asked);
    const next = this.#next.get(key);
    if (next !== undefined) return next;
    const current = this.#current.get(key);
    if (current === undefined) return this.#begin(key, asked);
    const later = current.then(() => {
      this.#next.delete(key);
      return this.#begin(key, asked);
    });
    this.#next.set(key, later);
    return later;
  }

  #begin(key: string, asked: AskedCalls): Promise<Snapshot> {
    const taken = this.#take(asked).finally(() => this.#current.delete(key));
    this.#current.set(key, taken);
    return taken;
  }

  async #take(asked: AskedCalls): Promise<Snapshot> {
    const token = ++this.#token;
    const parts = [this.#own(asked)];
    this.#asked.set(token, { orgId: asked.orgId, parts });
    await this.#signals?.ask("live.running", { token, ...asked }, ASK_MS);
    this.#asked.delete(token);
    return {
      count: parts.reduce((sum, { count }) => sum + count, 0),
      calls: newest(parts.flatMap(({ calls }) => calls)),
    };
  }

  #own({ orgId, environment, filters }: AskedCalls): Snapshot {
    const calls: RunningCall[] = [];
    for (const call of this.#running(orgId)) if (passes(call, filters, environment)) calls.push(call);
    return { count: calls.length, calls: newest(calls) };
  }

  #answer(signals: Signals, content: unknown, from: string): boolean {
    const read = question.safeParse(content);
    if (!read.success) return false;
    const { token, ...asked } = read.data;
    return signals.tellOne(from, "live.calls", { token, ...this.#own(asked) });
  }

  #heard(content: unknown): void {
    const read = answer.safeParse(content);
    if (!read.success) return;
    const { token, count, calls } = read.data;
    const asked = this.#asked.get(token);
    if (asked !== undefined && calls.every(({ orgId }) => orgId === asked.orgId))
      asked.parts.push({ count, calls });
  }
}

const newest = (calls: RunningCall[]): RunningCall[] =>
  calls.sort((a, b) => a.startedAtMs - b.startedAtMs).slice(-MOST_CALLS);
