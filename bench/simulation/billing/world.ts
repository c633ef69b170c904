/** What all parts of the simulation share: time, the payment service, the process that runs or is down, and what was planted. */

import { SimRefusal } from "../../../simulator/payments/engine.ts";
import type { WeirError } from "../../../src/base/errors.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import { PortalError } from "../../../src/billing/invoices/portal/portal.ts";
import { GatewayError } from "../../../src/billing/payments/gateway.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { Customer } from "./customers.ts";
import type { Dice } from "./dice.ts";
import { Deviation, type Figures } from "./figures.ts";
import type { Portal } from "./portal.ts";
import { GatewayProcess } from "./process.ts";
import { isStale } from "./rates-check.ts";
import type { PaymentService } from "./service.ts";

export interface WorldParts {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly figures: Figures;
  readonly service: PaymentService;
  readonly portal: Portal;
  readonly customers: readonly Customer[];
  readonly folder: string;
  readonly actsTwice: boolean;
  /** Sees each process before it runs. */
  readonly onOpen: (process: GatewayProcess) => Promise<void>;
}

export class World {
  readonly parts: WorldParts;
  /** Rates that were put: day → INR for 1 USD. */
  readonly rates = new Map<string, string>();
  /** Rupees for a dollar, and until when nobody tells them. */
  readonly market = { rupees: 88.5, closedUntilMs: 0 };
  /** What payment gateways would call things that reconciliation must park. */
  readonly planted = new Set<string>();
  /** No more trouble and no more customers: what is under way ends. */
  isEnding = false;
  #process: GatewayProcess | undefined;
  /** When a process started last. */
  upSinceMs = 0;
  #restarting: Promise<void> | undefined;
  #deviation: unknown;

  constructor(parts: WorldParts) {
    this.parts = parts;
  }

  /** Undefined while it is down. */
  get process(): GatewayProcess | undefined {
    return this.#process?.isDead === false ? this.#process : undefined;
  }

  /** Since then both sides have been there without a break. */
  get quietSinceMs(): number {
    return Math.max(this.upSinceMs, this.parts.service.awayUntilMs, this.parts.portal.awayUntilMs);
  }

  hasBeenQuiet(forMs: number): boolean {
    return this.parts.time.now() - this.quietSinceMs > forMs;
  }

  async open(): Promise<void> {
    const { folder, time, dice, figures, service, portal, actsTwice, onOpen } = this.parts;
    this.#process = await GatewayProcess.open({
      folder,
      time,
      dice,
      figures,
      service,
      portal,
      actsTwice,
      onDeath: () => this.#died(),
      onFailure: (error) => this.#failed(error),
      onOpen,
    });
    this.upSinceMs = time.now();
    figures.add("process: starts");
  }

  #died(): void {
    const { time, dice, figures } = this.parts;
    figures.add("process: killed");
    const downMs =
      this.isEnding || dice.chance(0.9) ? dice.between(0.01, 1) * HOUR_MS : dice.between(1, 8) * HOUR_MS;
    const dead = this.#process;
    time.after(downMs, () => {
      this.#restarting = (async () => {
        await dead?.release();
        await this.open();
      })();
    });
  }

  /** Whatever failed that is not the other side's answer is a fault of ours. */
  #failed(error: unknown): void {
    if (error instanceof GatewayError || error instanceof PortalError) {
      this.parts.figures.add(`jobs: failed, ${error.name} ${error.kind}`);
      return;
    }
    // Without a rate nothing is sold in rupees, and without the payment service its day cannot be compared: a later try does it.
    const kind = kindOf(error);
    const isExpected = kind === "gateway_unavailable" || (kind === "fx_stale" && isStale(this));
    if (isExpected) this.parts.figures.add(`jobs: failed, ${kind}`);
    else this.blame(error);
  }

  /** Ends the run at the next instant; the first one counts. */
  blame(error: unknown): void {
    if (this.#deviation !== undefined) return;
    this.#deviation =
      error instanceof Deviation ? error : new Deviation(`a failure: ${(error as Error).stack ?? error}`);
  }

  /** @throws Deviation */
  async settled(): Promise<void> {
    if (this.#restarting !== undefined) {
      await this.#restarting;
      this.#restarting = undefined;
    }
    await this.#process?.settled();
    if (this.#deviation !== undefined) throw this.#deviation;
  }

  /** Later, unless the run ends before. What it throws is a fault of ours, save a refusal of the payment service. */
  later(delayMs: number, act: () => unknown): void {
    this.parts.time.after(delayMs, () => {
      try {
        const begun = act();
        if (begun instanceof Promise) begun.catch((error: unknown) => this.blame(error));
      } catch (error) {
        if (!(error instanceof SimRefusal)) this.blame(error);
      }
    });
  }

  /** The same, and not before the payment service is back. */
  laterAtService(delayMs: number, act: () => unknown): void {
    this.later(delayMs, () => {
      const { service, time } = this.parts;
      if (service.isAway) this.laterAtService(service.awayUntilMs - time.now() + HOUR_MS / 4, act);
      else act();
    });
  }

  async close(): Promise<void> {
    this.isEnding = true;
    if (this.process !== undefined) this.#process?.end();
    await this.#process?.release();
  }
}

/** Name of an API error; undefined for any other error. */
export const kindOf = (error: unknown): string | undefined =>
  error instanceof Error && error.name === "WeirError" ? (error as WeirError).kind : undefined;
