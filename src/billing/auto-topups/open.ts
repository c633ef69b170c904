/**
 * Opens automatic top-ups and the mandates that they are debited by. The hook comes first, because the ledger is opened before the
 * rooms that sell credit; the room is opened before the first event and before jobs start.
 */
import type { AccountTables } from "../../account/tables.ts";
import type { Timers } from "../../base/clock.ts";
import type { CreditFall } from "../../credits/ledger/credit-events.ts";
import type { Events } from "../../store/events/events.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { MandateOperationDeps } from "../mandates/mandate-operations.ts";
import { type OpenMandates, openMandates } from "../mandates/open.ts";
import { MandateTables } from "../mandates/tables.ts";
import { AutoTopupTables, DEBIT_RULES } from "./auto-topup.ts";
import { type AutoTopupOperationDeps, autoTopupOperations } from "./auto-topup-operations.ts";
import { autoTopup, sweepAutoTopups } from "./jobs.ts";
import { concludeParked, creditListener } from "./outcome.ts";
import { type AutoTopupRunDeps, autoTopper } from "./run.ts";
import { AutoTopupWatch, type AutoTopupWatchDeps, autoTopupSweeper, watchedBelow } from "./watch.ts";

interface Tables {
  readonly autoTopups: AutoTopupTables;
  readonly mandates: MandateTables;
}

/** What the ledger is opened with, so that it tells of balances that fell. */
export interface AutoTopupHook {
  readonly tables: Tables;
  /** Port of `openCredits`: the balance below which it tells, micro-USD; undefined: nothing would follow. */
  watchedBelow(orgId: string): number | undefined;
  /** Part of `openCredits`' port `onFall`. */
  onFall(fall: Pick<CreditFall, "orgId" | "isWatched">): void;
  /** The room is open: from now on it hears of balances. */
  connect(watch: Pick<AutoTopupWatch, "below">): void;
}

export function autoTopupHook(store: Store): AutoTopupHook {
  const tables = { autoTopups: new AutoTopupTables(store), mandates: new MandateTables(store) };
  let below: (orgId: string) => void = () => {};
  return {
    tables,
    watchedBelow: (orgId) => watchedBelow(tables, orgId),
    onFall({ orgId, isWatched }): void {
      if (isWatched) below(orgId);
    },
    connect(watch): void {
      below = watch.below;
    },
  };
}

type Made = keyof Tables | "mandateLooks" | "debitRules" | "jobs" | "accounts";

export interface AutoTopupPorts
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
}

/** With the ports of `NoticeDeps`. */
export interface OpenAutoTopups extends Pick<OpenMandates, "onMandate" | "onDispute"> {
  readonly watch: AutoTopupWatch;
  readonly tables: Tables;
  readonly operations: ReturnType<typeof autoTopupOperations> & OpenMandates["operations"];
  /** Before the jobs start. */
  start(): Promise<void>;
  stop(): void;
}

export function openAutoTopup(ports: AutoTopupPorts, hook: AutoTopupHook): OpenAutoTopups {
  const { jobs, events, boundsChanged } = ports;
  const deps = { ...ports, ...hook.tables, debitRules: DEBIT_RULES };
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
  ports.parked.listen((row) => concludeParked(deps, row));
  jobs.handle(autoTopup, autoTopper(deps));
  jobs.handle(sweepAutoTopups, autoTopupSweeper(deps));
  const { mandateLooks, onMandate, onDispute, ...mandates } = openMandates(deps);
  return {
    watch,
    tables: hook.tables,
    operations: { ...autoTopupOperations({ ...deps, mandateLooks }), ...mandates.operations },
    onMandate,
    onDispute,
    start: () => watch.start(),
    stop: () => watch.stop(),
  };
}
