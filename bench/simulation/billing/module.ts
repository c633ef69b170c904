/** A part of the business that is simulated beside top-ups and refunds: plans, mandates, reconciliation, returns of a month. */
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import { MandateModule } from "./mandates.ts";
import type { GatewayProcess } from "./process.ts";
import { ReconciliationModule } from "./reconciliation.ts";
import { ReturnsModule } from "./returns.ts";
import { SubscriptionModule } from "./subscriptions.ts";
import type { World } from "./world.ts";

export interface SimulationModule {
  readonly name: string;
  /** Called with each process before its jobs start: registers the handlers of its room, and watches its rows. */
  open?(process: GatewayProcess, world: World): Promise<void> | void;
  /** Plans the day that begins now. */
  day?(world: World): void;
  /** Before the check of the night: takes back what was planted for a day. */
  dusk?(world: World): Promise<void>;
  /** Each entry of an org's ledger, once, in its order, in the night after it was posted. */
  entry?(world: World, orgId: string, entry: LedgerEntry): void;
  /** What it put into an org's ledger so far, micro-USD, by the entries that it was shown; so that the night's sum knows of it. */
  givenMicroUsd?(orgId: string): number;
  /** After the check of the night. @throws Deviation */
  night?(world: World, isLast: boolean): Promise<void> | void;
}

/** Those of a run, each with its own memory. */
export const allModules = (): SimulationModule[] => [
  new SubscriptionModule(),
  new MandateModule(),
  new ReconciliationModule(),
  new ReturnsModule(),
];
