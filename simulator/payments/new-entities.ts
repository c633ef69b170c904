/** What a checkout, payment, refund, dispute or mandate is when it begins. Each is kept as soon as it is made. */
import type { Clock } from "../../src/base/clock.ts";
import { PREFIXES } from "./outcomes.ts";
import type { SimCheckout, SimDispute, SimMandate, SimPayment, SimRefund, SimState } from "./state.ts";

export type NewCheckout = Omit<
  SimCheckout,
  "id" | "createdAtMs" | "state" | "isCancelled" | "paymentIds" | "mandateId"
> & { readonly idPrefix?: string };

export type NewPayment = Omit<
  SimPayment,
  "id" | "createdAtMs" | "feeMinor" | "paidAtMs" | "failure" | "refundedMinor"
>;

export class NewEntities {
  readonly #state: SimState;
  readonly #clock: Clock;

  constructor(state: SimState, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** An open page. */
  checkout({ idPrefix, ...fields }: NewCheckout): SimCheckout {
    const { house } = fields;
    const checkout: SimCheckout = {
      ...fields,
      id: this.#state.newId(idPrefix ?? PREFIXES[house].checkout),
      createdAtMs: this.#clock.now(),
      state: "open",
      isCancelled: false,
      paymentIds: [],
      mandateId: "",
    };
    this.#state.put("checkouts", checkout);
    return checkout;
  }

  /** A payment that has taken no money yet. */
  payment(fields: NewPayment): SimPayment {
    const payment: SimPayment = {
      ...fields,
      id: this.#state.newId(PREFIXES[fields.house].payment),
      createdAtMs: this.#clock.now(),
      feeMinor: 0,
      paidAtMs: null,
      failure: null,
      refundedMinor: 0,
    };
    this.#state.put("payments", payment);
    return payment;
  }

  /** A pending refund. @param amount in minor units @param reference empty for one that is made in the dashboard */
  refund({ house, id: paymentId, currency }: SimPayment, amount: number, reference: string): SimRefund {
    const refund: SimRefund = {
      id: this.#state.newId(PREFIXES[house].refund),
      house,
      createdAtMs: this.#clock.now(),
      paymentId,
      reference,
      amount,
      currency,
      state: "pending",
      failure: null,
    };
    this.#state.put("refunds", refund);
    return refund;
  }

  /** A dispute that has taken no money yet. @param amount in minor units */
  dispute(
    { house, id: paymentId, currency }: SimPayment,
    { amount, reason, state }: Pick<SimDispute, "amount" | "reason"> & { readonly state: "warning" | "open" },
  ): SimDispute {
    const dispute: SimDispute = {
      id: this.#state.newId(PREFIXES[house].dispute),
      house,
      createdAtMs: this.#clock.now(),
      paymentId,
      amount,
      currency,
      reason,
      state,
    };
    this.#state.put("disputes", dispute);
    return dispute;
  }

  /** What came of a registration. @param method default: the first of the page */
  mandate(checkout: SimCheckout, state: SimMandate["state"], method?: string): SimMandate {
    const { house, customerId, reference, cap, currency } = checkout;
    const mandate: SimMandate = {
      id: this.#state.newId(PREFIXES[house].mandate),
      house,
      createdAtMs: this.#clock.now(),
      checkoutId: checkout.id,
      customerId,
      reference,
      cap,
      currency,
      state,
      method: method ?? (checkout.methods[0] as string),
    };
    this.#state.put("mandates", mandate);
    return mandate;
  }
}
