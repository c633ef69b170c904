/**
 * A simulated stretch of business in virtual time: orgs pay, spend, ask for refunds and dispute; the payment service and the
 * process fail; every night all books are compared. The same seed gives the same run.
 */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { VirtualTime } from "../virtual-time.ts";
import { makeCustomers } from "./customers.ts";
import { planDay } from "./customers-life.ts";
import { Dice } from "./dice.ts";
import { Deviation, Figures } from "./figures.ts";
import { allModules, type SimulationModule } from "./module.ts";
import { NightlyCheck } from "./nightly.ts";
import { troublePayments } from "./payment-troubles.ts";
import { Portal } from "./portal.ts";
import { PaymentService } from "./service.ts";
import { putRate, troubleDay } from "./system-troubles.ts";
import { World } from "./world.ts";

/** Ids and rows hold whole milliseconds. */
class WholeTime extends VirtualTime {
  override after(delayMs: number, act: () => void): () => void {
    return super.after(Math.round(delayMs), act);
  }
}

export interface BillingOptions {
  readonly orgs: number;
  readonly days: number;
  readonly seed: number;
  /** First day, `YYYY-MM-DD`. */
  readonly from: string;
  /** Share of calls and webhooks that something happens to; default 3 %. */
  readonly trouble?: number;
  readonly actsTwice?: boolean;
  /** Default: all that are built in. */
  readonly modules?: readonly SimulationModule[];
  /** Told of each day that was checked. */
  readonly onDay?: (day: number) => void;
}

export interface BillingRun {
  readonly figures: Figures;
  /** The first one; the run ends with it. */
  readonly deviation: { readonly day: string; readonly what: string } | undefined;
}

/** Days at the end without customers and trouble: what is under way ends. */
const ENDING_DAYS = 40;
/** A process that is down is back by then. */
const LOOK_MS = 10 * 60_000;

export async function simulateBilling(options: BillingOptions): Promise<BillingRun> {
  const {
    orgs,
    days,
    seed,
    from,
    trouble = 0.03,
    actsTwice = false,
    onDay = () => {},
    modules = allModules(),
  } = options;
  const memory = process.env.TMPDIR === undefined && existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = mkdtempSync(join(memory, "weir-simulation-"));
  const time = new WholeTime(Date.parse(from));
  const dice = new Dice(seed);
  const figures = new Figures();
  const service = new PaymentService({ time, dice, figures, trouble });
  const customers = makeCustomers(orgs, dice, time.now());
  const check = new NightlyCheck(customers, modules);
  const world = new World({
    time,
    dice,
    figures,
    service,
    customers,
    folder,
    actsTwice,
    portal: new Portal(time, dice),
    async onOpen(opened) {
      check.follow(opened);
      for (const module of modules) await module.open?.(opened, world);
    },
  });
  check.world = world;
  troublePayments(world);
  try {
    await world.open();
    await world.process?.store.act(() => {
      for (const { org } of customers) world.process?.rooms.accounts.addOrg(org);
    });
    for (let day = 0; day < days + ENDING_DAYS; day++) {
      world.isEnding = day >= days;
      if (!world.isEnding) {
        planDay(world);
        troubleDay(world);
        for (const module of modules) module.day?.(world);
      } else {
        service.calm();
        putRate(world);
      }
      await runTo(world, Date.parse(from) + (day + 1) * DAY_MS);
      const isLast = day === days + ENDING_DAYS - 1;
      for (const module of modules) await module.dusk?.(world);
      check.night(isLast);
      for (const module of modules) await module.night?.(world, isLast);
      onDay(day);
    }
    return { figures, deviation: undefined };
  } catch (error) {
    if (!(error instanceof Deviation)) throw error;
    return { figures, deviation: { day: new Date(time.now()).toISOString(), what: error.message } };
  } finally {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Until then, and on until there is a process. */
async function runTo(world: World, ms: number): Promise<void> {
  const { time } = world.parts;
  const settled = () => world.settled();
  await time.runUntil(ms, settled);
  for (let waitedMs = 0; world.process === undefined; waitedMs += LOOK_MS) {
    if (waitedMs > 12 * HOUR_MS) throw new Deviation("the process does not come back");
    await time.runUntil(time.now() + LOOK_MS, settled);
  }
}
