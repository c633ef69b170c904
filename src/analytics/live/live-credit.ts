/** The credit of orgs that are watched, looked at some times a second: told where it changed, however many calls did it. */
import type { Clock, Timers } from "../../base/clock.ts";
import { eventText } from "../../base/operation/event-stream.ts";
import type { CreditNow, CreditReader } from "./credit-now.ts";
import { creditWire } from "./live-wire.ts";

export interface CreditFeedDeps {
  readonly creditOf: CreditReader;
  readonly clock: Pick<Clock, "now">;
  readonly timers: Timers;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
}

interface Watched {
  readonly listeners: Set<(event: string) => void>;
  last: CreditNow | undefined;
  /** What was told last. */
  text: string | undefined;
  stop: () => void;
}

export class CreditFeed {
  readonly #deps: CreditFeedDeps;
  readonly #orgs = new Map<string, Watched>();

  constructor(deps: CreditFeedDeps) {
    this.#deps = deps;
  }

  /** Tells the event of what the credit is, and again where it changed. @returns ends it */
  watch(orgId: string, listener: (event: string) => void): () => void {
    const known = this.#orgs.get(orgId);
    const org = known ?? { listeners: new Set(), last: undefined, text: undefined, stop() {} };
    org.listeners.add(listener);
    if (org.text !== undefined) listener(org.text);
    if (known === undefined) {
      this.#orgs.set(orgId, org);
      void this.#look(orgId, org);
    }
    return () => {
      org.listeners.delete(listener);
      if (org.listeners.size > 0 || this.#orgs.get(orgId) !== org) return;
      this.#orgs.delete(orgId);
      org.stop();
    };
  }

  async #look(orgId: string, org: Watched): Promise<void> {
    const { creditOf, clock, timers, everyMs } = this.#deps;
    try {
      const credit = await creditOf(orgId);
      if (org.last === undefined || !isSame(org.last, credit)) {
        org.last = credit;
        org.text = eventText(creditWire(credit, clock.now()), { event: "credit" });
        for (const listener of org.listeners) listener(org.text);
      }
    } catch {
      // What cannot be read now is read at the next look.
    }
    if (this.#orgs.get(orgId) === org) org.stop = timers.after(everyMs, () => void this.#look(orgId, org));
  }
}

const isSame = (a: CreditNow, b: CreditNow): boolean =>
  a.availableMicroUsd === b.availableMicroUsd &&
  a.heldMicroUsd === b.heldMicroUsd &&
  a.todayMicroUsd === b.todayMicroUsd &&
  a.monthMicroUsd === b.monthMicroUsd &&
  a.grantedMicroUsd === b.grantedMicroUsd &&
  a.currency === b.currency &&
  a.fxRate === b.fxRate &&
  a.fxDay === b.fxDay;
