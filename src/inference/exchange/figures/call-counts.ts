/** What the exchange has counted of calls since the start. */
import type { AttemptRecord } from "../../../record/record.ts";
import type { Call } from "../call.ts";
import type { FetchCounts } from "../media/fetch-media.ts";
import type { Outcome } from "../outcome.ts";
import type { ShadowCounts } from "../shadow/shadow.ts";
import { NameCounts } from "./name-counts.ts";
import { RefusalCounts } from "./refusal-counts.ts";

interface CountsOfCalls {
  /** Number of calls by outcome since the start. */
  readonly ended: Readonly<Record<Outcome["kind"], number>>;
  /** Number of calls whose upstream reported more than was held for them. */
  readonly reserveExceeded: number;
  /** Number of tiers and tools that upstreams reported and their endpoints have no price for. */
  readonly unpricedReports: number;
  /** Number of members of bodies that the table of extras does not list, by name. */
  readonly unlistedMembers: Readonly<Record<string, number>>;
  /** Number of attempts that a provider refused, by the row of the table of refusals. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Number of refusals that no row matched, by provider. */
  readonly unmatchedRefusals: Readonly<Record<string, number>>;
}

export interface ExchangeCounts extends CountsOfCalls {
  /** Number of calls that have begun and are not settled; who follows another call has none. */
  readonly live: number;
  readonly draining: number;
  /** Number of calls that wait for what other calls hold. */
  readonly waiting: number;
  readonly shadows: ShadowCounts;
  readonly fetches: FetchCounts;
}

export class CallCounts {
  readonly #ended: Record<Outcome["kind"], number> = {
    whole: 0,
    streamed: 0,
    broken: 0,
    exhausted: 0,
    cancelled: 0,
    failed: 0,
    refused: 0,
    faulted: 0,
    shut_down: 0,
  };
  #reserveExceeded = 0;
  #unpricedReports = 0;
  readonly #unlisted = new NameCounts();
  readonly #refusals = new RefusalCounts();

  ended(kind: Outcome["kind"]): void {
    this.#ended[kind]++;
  }

  unlisted(names: Iterable<string>): void {
    for (const name of names) this.#unlisted.count(name);
  }

  refused(attempt: AttemptRecord): void {
    this.#refusals.count(attempt);
  }

  /** A call was settled. */
  closed({ reserveExceeded, unpricedReports }: Call): void {
    if (reserveExceeded) this.#reserveExceeded++;
    this.#unpricedReports += unpricedReports;
  }

  all(): CountsOfCalls {
    return {
      ended: this.#ended,
      reserveExceeded: this.#reserveExceeded,
      unpricedReports: this.#unpricedReports,
      unlistedMembers: this.#unlisted.all(),
      refusals: this.#refusals.byRow(),
      unmatchedRefusals: this.#refusals.unmatched(),
    };
  }
}
