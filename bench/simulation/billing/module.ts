/** A part of the business that is simulated where it is built in: plans, mandates, reconciliation. */
import type { GatewayProcess } from "./process.ts";
import type { World } from "./world.ts";

export interface SimulationModule {
  readonly name: string;
  /** Of each process, before its jobs start: registers the handlers of its room, and watches its rows. */
  open?(process: GatewayProcess): void;
  /** Plans the day that begins now. */
  day?(world: World): void;
  /** After the check of the night. @throws Deviation */
  night?(world: World, isLast: boolean): void;
  /** What it put into an org's ledger so far, micro-USD; so that the night's sum knows of it. */
  givenMicroUsd?(orgId: string): number;
}

/** Those that are built in. */
export const MODULES: readonly SimulationModule[] = [];
