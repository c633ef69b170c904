/**
 * Dated prices: which of an endpoint's prices is in force at an instant, and when that must be asked again. Calls never
 * compare dates: the catalog replaces its snapshot at the instant.
 */
import type { Clock, Timers } from "../../base/clock.ts";
import type { CatalogDraft, EndpointDraft } from "./build.ts";
import { type PricedEndpoint, versionAfter } from "./price-versions.ts";

/** A price that is not in force yet. */
export interface ScheduledPrice extends PricedEndpoint {
  readonly fromMs: number;
  /** The version that it will have. */
  readonly version: string;
}

/** The prices of an endpoint that are in force at an instant. */
export function pricesAt(
  { prices, listPrices, dated }: EndpointDraft,
  nowMs: number,
): Pick<EndpointDraft, "prices" | "listPrices"> {
  return dated.findLast(({ fromMs }) => fromMs <= nowMs) ?? { prices, listPrices };
}

/** As `pricesAt`, with what a version is made of. */
export const pricedAt = (draft: EndpointDraft, nowMs: number): PricedEndpoint =>
  pricedEndpoint(draft, pricesAt(draft, nowMs));

const pricedEndpoint = (
  { endpoint: { id: endpointId, markupBps } }: EndpointDraft,
  { prices, listPrices }: Pick<PricedEndpoint, "prices" | "listPrices">,
): PricedEndpoint => ({ endpointId, prices, listPrices, markupBps });

/** The endpoint's prices that are not in force at `nowMs`, the earliest first. */
export const futurePrices = (draft: EndpointDraft, nowMs: number): (PricedEndpoint & { fromMs: number })[] =>
  draft.dated
    .filter(({ fromMs }) => fromMs > nowMs)
    .map((dated) => ({ ...pricedEndpoint(draft, dated), fromMs: dated.fromMs }));

/** `futurePrices` with the versions that they will have. @param version of the prices in force */
export function announcedPrices(draft: EndpointDraft, nowMs: number, version: string): ScheduledPrice[] {
  let last = { ...pricedAt(draft, nowMs), version };
  return futurePrices(draft, nowMs).map((next) => {
    last = { ...next, version: versionAfter(last, next) };
    return { ...last, fromMs: next.fromMs };
  });
}

/** The clock is asked this often: timers stand still while a machine sleeps, and know nothing of a clock that is set. */
const WATCH_MS = 1000;
/** A clock that is set back by less does not bring back the prices of before. */
const SET_BACK_MS = 60_000;

interface ScheduleDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Prices the catalog anew, then calls `watch`. When it rejects, it is called again after a while. */
  readonly reprice: () => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Watches for the instants of one catalog. */
export class Schedule {
  readonly #deps: ScheduleDeps;
  #instants: readonly number[] = [];
  /** The instant by which the snapshot in force is priced. */
  #pricedMs = Number.NEGATIVE_INFINITY;
  #cancel = () => {};
  #isClosed = false;

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
  }

  /** The instant to price by: now, and not before the last one where the clock was only set back a little. */
  now(): number {
    const nowMs = this.#deps.clock.now();
    return nowMs < this.#pricedMs && this.#pricedMs - nowMs < SET_BACK_MS ? this.#pricedMs : nowMs;
  }

  /** The draft is in force, priced by `pricedMs`. */
  watch({ models }: CatalogDraft, pricedMs: number): void {
    const all = models.flatMap(({ endpoints }) => endpoints.flatMap(({ dated }) => dated));
    this.#instants = [...new Set(all.map(({ fromMs }) => fromMs))].sort((a, b) => a - b);
    this.#pricedMs = pricedMs;
    this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #arm(): void {
    this.#cancel();
    if (this.#isClosed || this.#instants.length === 0) return;
    const nowMs = this.now();
    const dueMs = this.#instants.find((instant) => instant > nowMs) ?? Number.POSITIVE_INFINITY;
    this.#cancel = this.#deps.timers.after(Math.min(Math.max(1, dueMs - nowMs), WATCH_MS), () =>
      this.#look(),
    );
  }

  #look(): void {
    const count = (ms: number) => this.#instants.filter((instant) => instant <= ms).length;
    if (count(this.now()) === count(this.#pricedMs)) this.#arm();
    // `watch` arms the next timer where it succeeds.
    else this.#deps.reprice().catch((error: unknown) => this.#retry(error));
  }

  #retry(error: unknown): void {
    this.#deps.onFailure(error);
    if (!this.#isClosed) this.#cancel = this.#deps.timers.after(WATCH_MS, () => this.#look());
  }
}
