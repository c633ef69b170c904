/** Opens what is shown live: the tail, and the stream of a page. Both watch one feed of calls that have ended. */
import type { Clock, Timers } from "../../base/clock.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { OtherCells } from "../requests/other-cells.ts";
import { OrgRelay } from "../tail/org-relay.ts";
import { TailFeed } from "../tail/tail-feed.ts";
import { TailRelay } from "../tail/tail-relay.ts";
import type { CreditReader } from "./credit-now.ts";
import { CreditFeed } from "./live-credit.ts";
import { LiveFeed } from "./live-feed.ts";
import { MARKS } from "./live-mark.ts";
import { Snapshots } from "./live-snapshot.ts";
import { type EventSource, OrgEvents } from "./org-events.ts";
import type { CallWatch, RunningCalls } from "./running-call.ts";

export interface LivePorts {
  readonly outbox: Outbox;
  /** Events of orgs. */
  readonly events: EventSource;
  /** Port: what the ledger and the budgets know. */
  readonly creditOf: CreditReader;
  /** Undefined: the gateway is alone. */
  readonly others?: OtherCells | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** What model calls tell, and are asked. */
export interface LiveCalls {
  readonly watch: CallWatch;
  /** Asks it for the calls that run at this cell. */
  serve(running: RunningCalls): void;
}

export interface LiveFeeds {
  readonly ends: TailFeed;
  readonly begins: LiveFeed;
  readonly snapshots: Snapshots;
  readonly credit: CreditFeed;
  readonly orgEvents: OrgEvents;
}

/** How often credit is looked at. Cells ask Redis for it. */
const CREDIT_MS = 250;
const CREDIT_OF_CELLS_MS = 500;

export function openLiveFeeds({ outbox, events, creditOf, others, clock, timers }: LivePorts): LiveFeeds {
  const ends = new TailFeed(outbox, timers);
  const begins = new LiveFeed(timers);
  ends.onRows(() => begins.passOn());
  if (others !== undefined) {
    const deps = { signals: others.signals, clock, timers };
    ends.connect(new TailRelay(deps, ends));
    begins.connect(new OrgRelay(deps, MARKS, begins));
  }
  const everyMs = others === undefined ? CREDIT_MS : CREDIT_OF_CELLS_MS;
  return {
    ends,
    begins,
    snapshots: new Snapshots(others?.signals),
    credit: new CreditFeed({ creditOf, clock, timers, everyMs }),
    orgEvents: new OrgEvents(events, others !== undefined),
  };
}
