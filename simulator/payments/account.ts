/** The merchant's account at a simulated service: a line for all that comes in or goes out, and what is paid out of it. */
import type { Clock } from "../../src/base/clock.ts";
import { PREFIXES } from "./outcomes.ts";
import type { House, SimLine, SimPayment, SimSettlement, SimState } from "./state.ts";

export class Account {
  readonly #state: SimState;
  readonly #clock: Clock;

  constructor(state: SimState, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** @param fields `reference` absent: that of the payment */
  add(
    payment: SimPayment,
    fields: Pick<SimLine, "kind" | "ref" | "amount" | "feeMinor"> & { readonly reference?: string },
  ): void {
    const { house, id, currency, reference } = payment;
    this.#state.put("lines", {
      id: this.#state.newId(PREFIXES[house].line),
      house,
      createdAtMs: this.#clock.now(),
      paymentId: id,
      currency,
      reference,
      settlementId: "",
      ...fields,
    });
  }

  /** Oldest first. */
  linesOf(house: House, fromMs: number, toMs: number): SimLine[] {
    return [...this.#state.all("lines")].filter((line) => line.house === house && within(line, fromMs, toMs));
  }

  settlementsOf(house: House, fromMs: number, toMs: number): SimSettlement[] {
    return [...this.#state.all("settlements")].filter((s) => s.house === house && within(s, fromMs, toMs));
  }

  /** Pays out what has not been paid out, of one currency; undefined: there is nothing. */
  settle(house: House): SimSettlement | undefined {
    const open = [...this.#state.all("lines")].filter((l) => l.house === house && l.settlementId === "");
    const currency = open[0]?.currency;
    if (currency === undefined) return undefined;
    const lines = open.filter((line) => line.currency === currency);
    const feeMinor = lines.reduce((sum, line) => sum + line.feeMinor, 0);
    const settlement: SimSettlement = {
      id: this.#state.newId(PREFIXES[house].settlement),
      house,
      createdAtMs: this.#clock.now(),
      amount: lines.reduce((sum, line) => sum + line.amount, -feeMinor),
      feeMinor,
      currency,
    };
    this.#state.put("settlements", settlement);
    for (const line of lines) this.#state.put("lines", Object.assign(line, { settlementId: settlement.id }));
    return settlement;
  }
}

const within = ({ createdAtMs }: { createdAtMs: number }, fromMs: number, toMs: number): boolean =>
  createdAtMs >= fromMs && createdAtMs < toMs;
