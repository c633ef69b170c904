/**
 * For how many days an org's payloads count in its quota. ClickHouse removes payloads that a shorter retention leaves behind twice a day
 * and not at once, so what counts follows a day later: else whoever shortened the retention for a moment would have the room of
 * payloads that are kept on.
 */
const LAG_MS = 86_400_000;

export class KeptRetention {
  #days: number;
  /** The longest retention before the present one, and until when it counts. */
  #longer = { days: 0, untilMs: 0 };

  /** @param days of the org's policy now */
  constructor(days: number) {
    this.#days = days;
  }

  changed(days: number, nowMs: number): void {
    if (days < this.#days) this.#longer = { days: this.daysAt(nowMs), untilMs: nowMs + LAG_MS };
    this.#days = days;
  }

  daysAt(nowMs: number): number {
    const { days, untilMs } = this.#longer;
    return nowMs < untilMs ? Math.max(days, this.#days) : this.#days;
  }
}
