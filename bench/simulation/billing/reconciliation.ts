/**
 * The product's own reconciliation, every night: it must find all that was planted, in the payment service and in our books, and
 * nothing else. Operators close what is parked, some days later.
 */
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { ParkedRow } from "../../../src/billing/parked.ts";
import type { PaymentGateway } from "../../../src/billing/payments/gateway.ts";
import type { ReconciliationReport } from "../../../src/billing/reconciliation/finding.ts";
import { followNow } from "../../../src/billing/reconciliation/job.ts";
import { type OpenReconciliation, openReconciliation } from "../../../src/billing/reconciliation/open.ts";
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import type { Jobs } from "../../../src/store/jobs/jobs.ts";
import { must } from "./figures.ts";
import type { SimulationModule } from "./module.ts";
import { PLANTED, PLANTS, type Plant, type Planting } from "./planted-faults.ts";
import type { GatewayProcess } from "./process.ts";
import { checkReport } from "./report-check.ts";
import { NO_LOG } from "./rooms.ts";
import type { World } from "./world.ts";

/** In UTC: between the end of a day in India and the comparison of that day. */
const PLANT_AT_MS = 19 * HOUR_MS;

export class ReconciliationModule implements SimulationModule {
  readonly name = "reconciliation";
  #books: OpenReconciliation | undefined;
  readonly #fresh: ReconciliationReport[] = [];
  #newestDay = "";
  readonly #parked = new Map<string, ParkedRow>();
  readonly #plants: Plant[] = [];
  readonly #sums = new Map<string, number>();
  readonly #kinds: Readonly<Record<string, Planting>>;

  /** @param kinds of faults that are planted in our books */
  constructor(kinds: Readonly<Record<string, Planting>> = PLANTS) {
    this.#kinds = kinds;
  }

  async open(process: GatewayProcess, world: World): Promise<void> {
    const { store } = process;
    const { clock, accounts, book, followed, invoiceTables } = process.rooms;
    const { topups, refunds, disputes, parked } = followed;
    const outside = outsideOf(process);
    const follow = followNow(followed);
    this.#books?.close();
    this.#books = openReconciliation({
      store,
      clock,
      accounts,
      book,
      topups,
      refunds,
      disputes,
      parked,
      invoices: invoiceTables,
      jobs: watchedJobs(process),
      gateways: () => [readingOf(process.rooms.gateway, outside)],
      follow: (...given) => outside(() => follow(...given)),
      log: {
        ...NO_LOG,
        warn: () => world.parts.figures.add("reconciliation: not healed at once"),
      } as typeof NO_LOG,
    });
    store
      .table<ReconciliationReport>("billing.reconciliations")
      .watch((_key, row) => row && this.#fresh.push(row));
    store.table<ParkedRow>("billing.parked").watch((_key, row) => row && this.#parked.set(row.id, row));
    await this.#books.handleJobs();
  }

  day(world: World): void {
    const { dice, figures } = world.parts;
    for (const row of this.#parked.values()) {
      if (row.closedAtMs !== null || !dice.chance(1 / 12)) continue;
      world.later(dice.between(0, DAY_MS), async () => {
        const { process } = world;
        const now = process?.rooms.parked.get(row.id);
        if (process === undefined || now === undefined || now.closedAtMs !== null) return;
        await process.store.act(() => process.rooms.parked.close(now, "looked at", world.parts.time.now()));
        figures.add("parked: closed by an operator");
      });
    }
    if (dice.chance(1 / 3)) world.later(PLANT_AT_MS, () => this.#plant(world));
  }

  async #plant(world: World): Promise<void> {
    const { process, parts } = world;
    if (process === undefined) return;
    const [name, planting] = parts.dice.pick(Object.entries(this.#kinds));
    const plant = await process.plant(() => planting(world, process));
    const what = plant === undefined ? "nothing there to spoil" : name;
    parts.figures.add(`planted in our books: ${what}`);
    if (plant === undefined) return;
    this.#plants.push(plant);
    for (const { ref } of plant.findings) world.planted.add(ref);
  }

  /** Books are as they were before the night's check reads them. */
  async dusk(world: World): Promise<void> {
    const { process } = world;
    if (process === undefined) return;
    const spoiled = this.#plants.filter(
      (plant) => plant.mend !== undefined && plant.mendedAtMs === undefined,
    );
    if (spoiled.length === 0) return;
    await process.plant(() => {
      for (const { mend } of spoiled) mend?.(process);
    });
    for (const plant of spoiled) plant.mendedAtMs = world.parts.time.now();
  }

  entry(_world: World, orgId: string, entry: LedgerEntry): void {
    if (entry.kind === "settle" || !entry.refId.includes(PLANTED)) return;
    this.#sums.set(orgId, this.givenMicroUsd(orgId) + entry.amountMicroUsd);
  }

  givenMicroUsd(orgId: string): number {
    return this.#sums.get(orgId) ?? 0;
  }

  /** @throws Deviation */
  night(world: World, isLast: boolean): void {
    const { figures, time } = world.parts;
    for (const report of this.#fresh.splice(0)) {
      must(report.day > this.#newestDay, () => `${report.day} was compared after ${this.#newestDay}`);
      this.#newestDay = report.day;
      checkReport(world, report, this.#plants, [...this.#parked.values()]);
      figures.add("reconciliation: days compared");
    }
    for (const plant of this.#plants.splice(0)) {
      if (plant.day > this.#newestDay && plant.mendedAtMs === undefined) this.#plants.push(plant);
      else if (plant.day > this.#newestDay)
        figures.add("planted in our books: taken back before a late comparison");
    }
    const behindMs = time.now() - Date.parse(`${this.#newestDay || "9999-01-01"}T18:30:00Z`);
    must(
      behindMs < 2 * DAY_MS || !world.hasBeenQuiet(12 * HOUR_MS),
      () => `no day was compared since ${this.#newestDay}`,
    );
    if (!isLast) return;
    this.#books?.close();
    must(behindMs < DAY_MS, () => `at the end the newest comparison is of ${this.#newestDay}`);
  }
}

type Outside = <T>(call: () => Promise<T>) => Promise<T>;

/** While it waits for the payment service, time must pass; else it must not, or runs would differ. */
function outsideOf({ work }: GatewayProcess): Outside {
  return async (call) => {
    work.outside += 1;
    try {
      return await call();
    } finally {
      work.outside -= 1;
    }
  };
}

function watchedJobs({ rooms: { jobs }, work }: GatewayProcess): Pick<Jobs, "handle" | "enqueue"> {
  return {
    enqueue: (kind, order) => jobs.enqueue(kind, order),
    handle: (kind, handler) =>
      jobs.handle(kind, {
        ...handler,
        async run(payload, job) {
          work.running += 1;
          try {
            return await handler.run(payload, job);
          } finally {
            work.running -= 1;
          }
        },
      }),
  };
}

/** What reconciliation asks of a payment gateway. */
function readingOf(gateway: PaymentGateway, outside: Outside): PaymentGateway {
  async function* each<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = items[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await outside(() => iterator.next());
      if (done === true) return;
      yield value;
    }
  }
  const reading: Partial<PaymentGateway> = {
    id: gateway.id,
    linesOf: (...given) => each(gateway.linesOf(...given)),
    settlementsOf: (...given) => each(gateway.settlementsOf(...given)),
    readPayment: (...given) => outside(() => gateway.readPayment(...given)),
    readRefund: (...given) => outside(() => gateway.readRefund(...given)),
    readDispute: (...given) => outside(() => gateway.readDispute(...given)),
    refundsOf: (...given) => outside(() => gateway.refundsOf(...given)),
  };
  return reading as PaymentGateway;
}
