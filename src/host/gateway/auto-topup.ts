/**
 * Opens mandates and automatic top-ups. The hook comes first, because the ledger is opened before the rooms that sell credit; the room
 * is opened before the first event and before jobs start.
 */
import type { AccountTables } from "../../account/tables.ts";
import type { Timers } from "../../base/clock.ts";
import { AutoTopupTables, DEBIT_RULES } from "../../billing/auto-topups/auto-topup.ts";
import {
  type AutoTopupOperationDeps,
  autoTopupOperations,
} from "../../billing/auto-topups/auto-topup-operations.ts";
import { autoTopup, sweepAutoTopups } from "../../billing/auto-topups/jobs.ts";
import { concludeParked, creditListener } from "../../billing/auto-topups/outcome.ts";
import { type AutoTopupRunDeps, autoTopper } from "../../billing/auto-topups/run.ts";
import {
  AutoTopupWatch,
  type AutoTopupWatchDeps,
  autoTopupSweeper,
  watchedBelow,
} from "../../billing/auto-topups/watch.ts";
import { endMandate, watchMandate } from "../../billing/mandates/jobs.ts";
import { type MandateOperationDeps, mandateOperations } from "../../billing/mandates/mandate-operations.ts";
import { pauseMandate } from "../../billing/mandates/moves.ts";
import { MandateTables } from "../../billing/mandates/tables.ts";
import { mandateEnder, mandateWatcher, onMandate } from "../../billing/mandates/watch.ts";
import type { NoticeDeps } from "../../billing/notices/notices.ts";
import type { CreditFall } from "../../credits/ledger/credit-events.ts";
import type { Events } from "../../store/events/events.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";

export type AutoTopupHook = ReturnType<typeof autoTopupHook>;

/** What the ledger is opened with, so that it tells of balances that fell. */
export function autoTopupHook(store: Store) {
  const tables = { autoTopups: new AutoTopupTables(store), mandates: new MandateTables(store) };
  let below: (orgId: string) => void = () => {};
  return {
    tables,
    /** Port of `openCredits`. */
    watchedBelow: (orgId: string) => watchedBelow(tables, orgId),
    /** Part of `openCredits`' port `onFall`. */
    onFall({ orgId, isWatched }: Pick<CreditFall, "orgId" | "isWatched">): void {
      if (isWatched) below(orgId);
    },
    connect(watch: AutoTopupWatch): void {
      below = watch.below;
    },
  };
}

type Made = "autoTopups" | "mandates" | "mandateLooks" | "debitRules" | "jobs" | "accounts";

/** What the room of billing passes: its tables and ports. */
export interface AutoTopupGround
  extends Omit<AutoTopupRunDeps, Made>,
    Pick<AutoTopupOperationDeps, "trail" | "gatewayFor">,
    Pick<MandateOperationDeps, "ownAddress" | "quotas"> {
  readonly book: AutoTopupRunDeps["book"] & AutoTopupWatchDeps["book"];
  readonly timers: Timers;
  readonly jobs: Jobs;
  readonly accounts: AccountTables;
  readonly events: Pick<Events, "emit" | "listen">;
  /** `openCredits` returns it. */
  readonly boundsChanged: (orgId: string) => void;
  readonly onFailure: (error: unknown) => void;
  readonly debitRules?: AutoTopupRunDeps["debitRules"];
}

export function openAutoTopup(ground: AutoTopupGround, hook: AutoTopupHook) {
  const { jobs, events, boundsChanged, debitRules = DEBIT_RULES } = ground;
  const deps = { ...ground, ...hook.tables, debitRules, mandateLooks: new Map<string, Promise<void>>() };
  const watch = new AutoTopupWatch(deps);
  hook.connect(watch);
  // A job that ends while the change is made has not seen it: so it is heard of like a balance that fell.
  const changed = (orgId: string) => {
    boundsChanged(orgId);
    watch.below(orgId);
  };
  hook.tables.autoTopups.watch(changed);
  hook.tables.mandates.watch(changed);
  events.listen(creditListener(deps));
  ground.parked.listen((row) => concludeParked(deps, row));
  jobs.handle(autoTopup, autoTopper(deps));
  jobs.handle(sweepAutoTopups, autoTopupSweeper(deps));
  jobs.handle(watchMandate, mandateWatcher(deps));
  jobs.handle(endMandate, mandateEnder(deps));
  const noticed: NoticeDeps["onMandate"] = (gateway, ref, signal) => onMandate(deps, gateway, ref, signal);
  return {
    watch,
    tables: hook.tables,
    operations: { ...autoTopupOperations(deps), ...mandateOperations(deps) },
    /** Ports of `NoticeDeps`. */
    onMandate: noticed,
    onDispute: (orgId: string) => pauseMandate(deps, orgId, "dispute"),
    /** Before the jobs start. */
    start: () => watch.start(),
    stop: () => watch.stop(),
  };
}
