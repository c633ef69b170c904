/**
 * Reconciliation: compares what payment gateways say of a day with our books, and these with each other. A comparison only reads.
 * A run also heals what is safe, which is to read what a payment gateway has and to follow it, as after a webhook that was lost;
 * it parks what concerns a payment and is not healed, and keeps its report. A second run of a day does nothing twice.
 */

import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import { type ExpiringTable, openExpiringTable } from "../../store/tables/expiring-table.ts";
import { indianDay, indianDayStart } from "../invoices/financial-year.ts";
import { GatewayError } from "../payments/gateway.ts";
import { compareBooks, type OwnBooks } from "./books.ts";
import { FINDING_KINDS, type Finding, openFaults, type ReconciliationReport } from "./finding.ts";
import { compareGateways, type DayOf, type GatewayBooks } from "./gateway-day.ts";
import { Notes } from "./notes.ts";

const KEPT_DAYS = 400;

export interface ReconciliationDeps extends Omit<GatewayBooks, "ledger">, OwnBooks {
  readonly store: Store;
  readonly clock: Clock;
  /** Told of a run that leaves faults. */
  readonly onFaults: (report: ReconciliationReport, faults: readonly Finding[]) => void;
  /** Told of a finding that could not be healed, or of reports that could not be forgotten. */
  readonly onFailure: (error: unknown) => void;
}

export class Reconciliation {
  readonly #deps: ReconciliationDeps;
  readonly #reports: ExpiringTable<ReconciliationReport>;
  /** By runs of a day that a payment gateway broke off: for the report of the run that comes to its end. */
  #healed: { readonly day: string; readonly findings: readonly Finding[] } | undefined;
  /** One at a time: a second one of the same day shares it. */
  #running: { readonly key: string; readonly report: Promise<ReconciliationReport> } | undefined;

  constructor(deps: ReconciliationDeps) {
    this.#deps = deps;
    this.#reports = openExpiringTable<ReconciliationReport>({
      store: deps.store,
      clock: deps.clock,
      onFailure: deps.onFailure,
      rows: "billing.reconciliations",
      periods: "billing.reconciliations_by_period",
      keepPeriods: KEPT_DAYS,
    });
  }

  close(): void {
    this.#reports.close();
  }

  /** The newest day that is over. */
  yesterday(): string {
    return indianDay(this.#deps.clock.now() - DAY_MS);
  }

  stored(day: string): ReconciliationReport | undefined {
    return this.#reports.get(["day", day]);
  }

  /** Report of the newest day that was run. */
  newest(): ReconciliationReport | undefined {
    for (const report of this.#reports.members(["day"])) return report;
    return undefined;
  }

  /** Reads only. @throws WeirError 400, 409 while another day is compared, 503 where a payment gateway does not answer */
  compare(day: string, signal: AbortSignal): Promise<ReconciliationReport> {
    return this.#one(`compare ${day}`, async () => {
      const notes = await this.#look(this.#dayOf(day, signal));
      return notes.report(day, this.#deps.clock.now());
    });
  }

  /** Compares, heals, parks and stores. @throws as `compare` */
  run(day: string, signal: AbortSignal): Promise<ReconciliationReport> {
    return this.#one(`run ${day}`, async () => {
      const notes = await this.#look(this.#dayOf(day, signal));
      await this.#heal(notes, signal).catch((error: unknown) => {
        const findings = [...this.#healedOn(day), ...notes.held().map(([, { finding }]) => finding)];
        this.#healed = { day, findings: findings.filter(({ state }) => state === "healed") };
        throw error;
      });
      const report = await this.#keep(day, notes);
      const faults = openFaults(report);
      if (faults.length > 0) this.#deps.onFaults(report, faults);
      return report;
    });
  }

  async #one(key: string, act: () => Promise<ReconciliationReport>): Promise<ReconciliationReport> {
    if (this.#running?.key === key) return await this.#running.report;
    if (this.#running !== undefined)
      throw fail("state", "Another reconciliation is under way; ask again when it has ended.");
    const report = act().catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      const message = `The payment gateway did not give its account of the day (${error.kind}).`;
      throw fail("gateway_unavailable", message, { cause: error });
    });
    this.#running = { key, report };
    try {
      return await report;
    } finally {
      this.#running = undefined;
    }
  }

  /** @throws WeirError 400 where the day is none, or is not over */
  #dayOf(day: string, signal: AbortSignal): DayOf {
    const fromMs = indianDayStart(day);
    if (Number.isNaN(fromMs)) throw fail("invalid_value", `There is no day ${day}.`, { param: "/day" });
    if (fromMs + DAY_MS > this.#deps.clock.now())
      throw fail("invalid_value", "The day is not over in India.", { param: "/day" });
    return { day, fromMs, toMs: fromMs + DAY_MS, signal };
  }

  async #look(day: DayOf): Promise<Notes> {
    const notes = new Notes();
    await compareGateways(this.#deps, day, notes);
    const before = this.stored(indianDay(day.fromMs - DAY_MS));
    await compareBooks(this.#deps, day, notes, before?.seriesEnds);
    return notes;
  }

  async #heal(notes: Notes, signal: AbortSignal): Promise<void> {
    for (const [key, { finding, heal, again }] of notes.held()) {
      signal.throwIfAborted();
      const isFault = FINDING_KINDS[finding.kind].level === "fault";
      if (isFault && finding.state === "open" && heal !== undefined && again !== undefined) {
        // What fails stays as it was found, and an operator sees it; what may be read soon fails the run, which comes again.
        await heal(signal).catch((error: unknown) => {
          if (isPassing(error)) throw error;
          this.#deps.onFailure(error);
        });
        const now = again();
        const next: Finding = now === undefined ? { ...finding, state: "healed" } : { ...finding, ...now };
        notes.replace(key, next);
        if (now === undefined) await this.#unpark(finding);
      }
      const left = this.#left(notes, key);
      if (left !== undefined) notes.replace(key, await this.#park(left));
    }
  }

  #left(notes: Notes, key: string): Finding | undefined {
    const finding = notes.finding(key);
    return finding?.state === "open" && FINDING_KINDS[finding.kind].level === "fault" ? finding : undefined;
  }

  /** @returns undefined where an operator has said what became of it */
  async #park(finding: Finding): Promise<Finding | undefined> {
    const { store, parked, clock } = this.#deps;
    const { gateway, ref, orgId, topupId, currency, minor } = finding;
    // No payment gateway knows what is wrong in our books alone; it is in the report.
    if (gateway === "" || currency === "") return finding;
    const detail = `${finding.kind}: ${finding.detail}`.slice(0, 500);
    const given = { gateway, ref, orgId, topupId, currency, minor, detail };
    await store.act(() => parked.park({ ...given, reason: "reconciliation" }, clock.now()));
    const isOpen = parked.of(gateway, ref).some(({ closedAtMs }) => closedAtMs === null);
    return isOpen ? { ...finding, state: "parked" } : undefined;
  }

  async #unpark({ gateway, ref }: Finding): Promise<void> {
    const { store, parked, clock } = this.#deps;
    const mine = parked
      .of(gateway, ref)
      .filter(({ reason, closedAtMs }) => reason === "reconciliation" && closedAtMs === null);
    if (mine.length === 0) return;
    const close = () => {
      for (const row of mine) parked.close(row, "A later reconciliation has put it right.", clock.now());
    };
    await store.act(close);
  }

  #healedOn(day: string): readonly Finding[] {
    return this.#healed?.day === day ? this.#healed.findings : [];
  }

  /** What an earlier run of the day healed stays in the report. */
  async #keep(day: string, notes: Notes): Promise<ReconciliationReport> {
    const { store, clock } = this.#deps;
    for (const finding of [...this.#healedOn(day), ...(this.stored(day)?.findings ?? [])])
      if (finding.state === "healed") notes.add(finding);
    const report = notes.report(day, clock.now());
    await store.act(() => this.#reports.put(["day", day], report, clock.now()));
    return report;
  }
}

/** The payment gateway did not answer, or asks for patience. */
const isPassing = (error: unknown): boolean =>
  error instanceof GatewayError && (error.kind === "busy" || error.kind === "unclear");
