/** The registration portal of e-invoices, in this process: it fails now and then, and registers each number once. */
import { hash } from "node:crypto";
import type { EInvoicePayload } from "../../../src/billing/invoices/portal/e-invoice.ts";
import {
  type EInvoicePortal,
  PortalError,
  type Registration,
} from "../../../src/billing/invoices/portal/portal.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { Dice } from "./dice.ts";

export class Portal implements EInvoicePortal {
  /** Number → what was registered. */
  readonly registered = new Map<string, string>();
  awayUntilMs = 0;
  readonly #time: VirtualTime;
  readonly #dice: Dice;

  constructor(time: VirtualTime, dice: Dice) {
    this.#time = time;
    this.#dice = dice;
  }

  async register(payload: EInvoicePayload): Promise<Registration> {
    if (this.#time.now() < this.awayUntilMs) throw new PortalError("unclear", "no answer");
    const number = payload.DocDtls.No;
    const irn = hash("sha256", number);
    this.registered.set(number, irn);
    if (this.#dice.chance(0.02)) throw new PortalError("unclear", "no answer after the effect");
    return { irn, ackNumber: "1", ackAtMs: this.#time.now(), signedQr: "qr" };
  }
}
