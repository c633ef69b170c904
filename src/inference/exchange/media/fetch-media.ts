/**
 * Fetching: where the first endpoint of a plan takes pictures and documents only as data, and the request names them by address, the
 * gateway fetches them, after admission and before the hold. Off unless `weir.yaml` turns it on: the writers then refuse them. If
 * they cannot be fetched, the call goes on where another endpoint of its plan takes the addresses; else it is refused.
 */
import type { Clock, Timers } from "../../../base/clock.ts";
import { fail, type WeirError } from "../../../base/errors.ts";
import { after, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { OutboundRules } from "../../../outbound/rules.ts";
import type { Outbound } from "../../../outbound/send.ts";
import { Slots } from "../../../outbound/slots.ts";
import { isNoImage, saysNoImage } from "../../../wire/media/uncounted.ts";
import { type MediaAddress, takesOnlyData, takesSomeOnlyAsData } from "../../../wire/media-addresses.ts";
import type { FetchedMedia } from "../../../wire/neutral/source.ts";
import { passageTo } from "../../../wire/passages.ts";
import type { Bodies } from "../body/bodies.ts";
import type { PlannedCall } from "../call.ts";
import { ClientLeft } from "../reservation/hold-queue.ts";
import { type FetchBounds, Fetching } from "./fetching.ts";
import { MediaBudget, MediaShare } from "./media-budget.ts";

export interface FetchDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly bodies: Pick<Bodies, "addresses">;
  readonly outbound: Pick<Outbound, "send">;
  readonly rules: OutboundRules;
  /** Undefined: nothing is fetched. */
  readonly bounds: (FetchBounds & { readonly maxUnderWayBytes: number }) | undefined;
}

export interface FetchCounts {
  /** In memory now, as base64. */
  readonly bytes: number;
  /** Number of addresses since the start, by whether what they stand for came. */
  readonly addresses: Readonly<Record<"fetched" | "failed", number>>;
}

/** Different addresses of one call. */
const MAX_ADDRESSES = 20;
/** Fetches that run at once, and those for calls of one org: slow servers delay the calls of that org only. */
export const MAX_FETCHES = 64;
const MAX_FETCHES_OF_ORG = 20;
const MAX_WAITING = 4096;

export class MediaFetches {
  readonly #deps: FetchDeps;
  readonly #budget: MediaBudget;
  readonly #slots = new Slots({ total: MAX_FETCHES, perOrigin: MAX_FETCHES_OF_ORG, waiting: MAX_WAITING });
  readonly #live = new Set<Fetching>();
  readonly #counts = { fetched: 0, failed: 0 };
  #isShutDown = false;

  constructor(deps: FetchDeps) {
    this.#deps = deps;
    this.#budget = new MediaBudget(deps.bounds?.maxUnderWayBytes ?? 0);
  }

  /**
   * The call with what its first endpoint must be told. Returns a promise only where something is fetched, or a large body is searched.
   * @throws WeirError 400 naming the part whose address failed, 429 where too much is fetched already, 503 at a shutdown; ClientLeft
   */
  fetchFor(call: PlannedCall): MaybePromise<PlannedCall> {
    const { bounds, bodies } = this.#deps;
    const { facts } = call.request;
    if (bounds === undefined || !(facts.hasImages || facts.hasAudio || facts.hasUncounted)) return call;
    const [first] = call.plan.attempts;
    const way = first && passageTo(call.incoming.format, first);
    if (way === undefined || way.isSplice || !takesSomeOnlyAsData(way.dialect)) return call;
    return this.#fetchFound(call, bounds, bodies.addresses(call.incoming.format, way.dialect, call.request));
  }

  #fetchFound(
    call: PlannedCall,
    bounds: FetchBounds,
    found: MaybePromise<readonly MediaAddress[]>,
  ): MaybePromise<PlannedCall> {
    return after(found, (addresses) =>
      addresses.length === 0 ? call : this.#fetched(call, addresses, bounds),
    );
  }

  counts(): FetchCounts {
    return { bytes: this.#budget.bytes, addresses: this.#counts };
  }

  /** Ends all that is under way, and refuses calls that come later. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const fetching of this.#live) fetching.stop(shuttingDown());
  }

  async #fetched(
    call: PlannedCall,
    addresses: readonly MediaAddress[],
    bounds: FetchBounds,
  ): Promise<PlannedCall> {
    const { clock } = this.#deps;
    const startMs = clock.monotonic();
    const share = new MediaShare(this.#budget, call.key.orgId, bounds.maxCallBytes);
    call.mediaShare = share;
    try {
      if (this.#isShutDown) throw shuttingDown();
      const fetched = await this.#fetch(call, once(addresses), share, bounds);
      const { request } = call;
      const hasUncounted = request.facts.hasUncounted || fetched.some(isNoImageOf);
      call.withRequest({ ...request, fetched, facts: { ...request.facts, hasUncounted } });
    } catch (error) {
      share.release();
      const isOver = call.incoming.reply.gone || this.#isShutDown;
      if (isOver || !othersTake(call, addresses)) throw error;
    } finally {
      call.fetchMs = clock.monotonic() - startMs;
    }
    return call;
  }

  async #fetch(
    call: PlannedCall,
    addresses: readonly MediaAddress[],
    share: MediaShare,
    bounds: FetchBounds,
  ) {
    const { timers, outbound, rules } = this.#deps;
    const { timeoutMs = Number.POSITIVE_INFINITY } = call.plan.decision;
    const fetching = new Fetching({
      outbound,
      rules,
      share,
      bounds: { ...bounds, timeoutMs: Math.min(bounds.timeoutMs, timeoutMs) },
      timers,
      slots: this.#slots,
      orgId: call.key.orgId,
    });
    this.#live.add(fetching);
    call.incoming.reply.onGone(() => fetching.stop(new ClientLeft()));
    try {
      const fetched = await fetching.all(addresses);
      this.#counts.fetched += fetched.length;
      return fetched;
    } catch (error) {
      this.#counts.failed++;
      throw error;
    } finally {
      this.#live.delete(fetching);
    }
  }
}

/** Whether it may cost more tokens than an image: only now that it is here this can be told. */
const isNoImageOf = ({ mediaType, base64 }: FetchedMedia): boolean =>
  saysNoImage(mediaType) || isNoImage(Buffer.from(base64.subarray(0, HEAD)).toString("latin1"), 0);

/** Characters that are looked at. */
const HEAD = 256;

/** Each address once. @throws WeirError 400 naming the first one too many */
function once(addresses: readonly MediaAddress[]): readonly MediaAddress[] {
  const byUrl = new Map<string, MediaAddress>();
  for (const address of addresses) if (!byUrl.has(address.url)) byUrl.set(address.url, address);
  const all = [...byUrl.values()];
  const tooMany = all[MAX_ADDRESSES];
  if (tooMany === undefined) return all;
  const message = `${tooMany.at}: at most ${MAX_ADDRESSES} different addresses are fetched for a call; send the data instead.`;
  throw fail("invalid_value", message, { param: tooMany.at });
}

/** Whether an endpoint behind the first one takes the addresses as they are. */
const othersTake = ({ plan, incoming }: PlannedCall, addresses: readonly MediaAddress[]): boolean =>
  plan.attempts.slice(1).some((endpoint) => {
    const way = passageTo(incoming.format, endpoint);
    return (
      way !== undefined && (way.isSplice || !addresses.some(({ kind }) => takesOnlyData(way.dialect, kind)))
    );
  });

const shuttingDown = (): WeirError =>
  fail("shutting_down", "The gateway is shutting down.", { retryAfterMs: 1000 });
