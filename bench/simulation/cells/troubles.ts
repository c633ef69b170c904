/** What goes wrong in a schedule: processes, network, clocks, disks and Redis; and the end of it. */
import { RETIRE_SILENCE_MS } from "../../../src/cluster/cells/membership/registry.ts";
import type { Dice } from "../billing/dice.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { DocumentsWatch } from "./documents-watch.ts";
import type { LimitsWatch } from "./limits-watch.ts";
import type { MoneyWatch } from "./money-watch.ts";
import type { Network } from "./network.ts";
import type { Plan, Trouble } from "./plan.ts";
import type { Server } from "./redis/server.ts";
import type { SimCell } from "./sim-cell.ts";

const CHARGES = "cells.charges";
const [SECOND_MS, HOUR_MS, DAY_MS] = [1000, 3_600_000, 86_400_000];
/** By how much a clock is set. */
const JUMPS_MS = [61 * SECOND_MS, HOUR_MS, 8 * HOUR_MS, DAY_MS, 13 * DAY_MS, 40 * DAY_MS].flatMap((ms) => [
  ms,
  -ms,
]);
/** Smaller steps cannot be told from what clocks differ anyway. */
const UNSEEN_MS = 1900;
/** A clock that drifts goes on by that in steps which cells have each heard of: faster than a real one, and by more than machines may differ. */
const [DRIFT_EVERY_MS, DRIFT_MS] = [300, 80 * SECOND_MS];

export interface TroublesDeps {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly plan: Plan;
  readonly server: Server;
  readonly network: Network;
  readonly cells: readonly SimCell[];
  readonly limits: LimitsWatch;
  readonly money: MoneyWatch;
  readonly documents: DocumentsWatch;
  readonly say: (line: string) => void;
}

export class Troubles {
  readonly #deps: TroublesDeps;
  readonly #fullUntil = new Map<string, number>();
  /** What all clocks were set ahead. */
  #allAheadMs = 0;
  #isOver = false;
  made = 0;

  constructor(deps: TroublesDeps) {
    this.#deps = deps;
  }

  /** From now on. */
  begin(): void {
    this.#next();
  }

  isDiskFull(cell: string): boolean {
    return this.#deps.time.monotonic() < (this.#fullUntil.get(cell) ?? 0);
  }

  /** From now on nothing goes wrong, and whatever stands still goes on. */
  mend(): void {
    const { server, network, cells } = this.#deps;
    this.#isOver = true;
    this.#fullUntil.clear();
    network.calm();
    server.clockAheadMs = this.#allAheadMs;
    for (const { process } of cells) if (process !== undefined) process.wallAheadMs = this.#allAheadMs;
    if (!server.isUp) server.start();
    for (const cell of cells) {
      if (cell.process?.isPaused === true) cell.process.resume();
      if (!cell.isRunning) cell.start();
    }
  }

  #next(): void {
    const { time, dice, plan } = this.#deps;
    time.after(-plan.troubleEveryMs * Math.log(1 - dice.random()), () => {
      if (this.#isOver) return;
      this.made++;
      this.#make(dice.weighted(plan.troubles));
      this.#next();
    });
  }

  #make(trouble: Trouble): void {
    const { dice, cells } = this.#deps;
    const cell = dice.pick(cells);
    const make: Record<Trouble, () => void> = {
      pause: () => this.#pause(cell, dice.between(20, dice.chance(0.2) ? 8000 : 1500)),
      kill: () => this.#kill(cell),
      cut: () => this.#said("a connection is cut", () => this.#deps.network.cutOne()),
      cutAll: () => this.#said("all connections are cut", () => this.#deps.network.cut()),
      stall: () => this.#stall(cell),
      slow: () => this.#slow(),
      fullDisk: () => this.#fillDisk(cell),
      jump: () => this.#jump(cell),
      redisRestart: () => this.#restartRedis(),
      redisSlip: () => this.#slipRedis(),
      redisJump: () => this.#jumpRedis(),
      redisDrift: () => this.#driftRedis(),
      allJump: () => this.#jumpAll(),
      jumpInTurn: () => this.#jumpInTurn(),
      copy: () => this.#copy(cell),
      failOver: () => this.#failOver(),
      retire: () => this.#retire(cell),
    };
    make[trouble]();
  }

  #said(line: string, act: () => void): void {
    this.#deps.say(line);
    act();
  }

  #pause(cell: SimCell, ms: number): void {
    const { process } = cell;
    if (process === undefined || process.isDead || process.isPaused) return;
    this.#deps.say(`${cell.name} stands still for ${ms.toFixed(0)} ms`);
    process.pause();
    this.#later(ms, () => process.resume());
  }

  #kill(cell: SimCell): void {
    if (!cell.isRunning) return;
    this.#deps.say(`${cell.name} is killed`);
    cell.kill();
    this.#deps.network.cut(cell.name);
    this.#later(this.#deps.dice.between(5, 1500), () => this.#restart(cell));
  }

  #restart(cell: SimCell): void {
    if (!cell.isRunning) cell.start();
  }

  #stall(cell: SimCell): void {
    const ms = this.#deps.dice.between(50, this.#deps.dice.chance(0.2) ? 9000 : 1500);
    this.#deps.say(`nothing gets to or from ${cell.name} for ${ms.toFixed(0)} ms`);
    this.#deps.network.stall(cell.name, ms);
  }

  #slow(): void {
    const { network, dice, say } = this.#deps;
    const before = network.delayMs;
    network.delayMs = { least: 1, most: dice.between(20, 400) };
    say(`messages take up to ${network.delayMs.most.toFixed(0)} ms`);
    this.#later(dice.between(200, 2000), () => {
      if (!this.#isOver) network.delayMs = before;
    });
  }

  #fillDisk(cell: SimCell): void {
    const ms = this.#deps.dice.between(20, 1000);
    this.#deps.say(`the disk of ${cell.name} is full for ${ms.toFixed(0)} ms`);
    this.#fullUntil.set(cell.name, this.#deps.time.monotonic() + ms);
  }

  /** Sets clocks by `ms`, and often sets them right again. */
  #set(whose: string, ms: number, set: (ms: number) => void): void {
    const { dice, say } = this.#deps;
    say(`${whose} set by ${ms} ms`);
    set(ms);
    if (dice.chance(0.2)) return;
    this.#later(dice.between(50, dice.chance(0.3) ? 8000 : 1500), () => {
      if (this.#isOver) return;
      say(`${whose} set back by ${ms} ms`);
      set(-ms);
    });
  }

  #jump(cell: SimCell): void {
    const { dice } = this.#deps;
    if (cell.process === undefined) return;
    const ms = dice.chance(0.5) ? Math.round(dice.between(-100_000, 100_000)) : dice.pick(JUMPS_MS);
    this.#set(`the clock of ${cell.name} is`, ms, (byMs) => {
      if (cell.process !== undefined) cell.process.wallAheadMs += byMs;
    });
  }

  #slipRedis(): void {
    const { server, dice, limits, say } = this.#deps;
    const ms = Math.round(dice.between(-UNSEEN_MS, UNSEEN_MS));
    say(`Redis's clock is set by ${ms} ms`);
    server.clockAheadMs += ms;
    limits.isClockWrong = true;
  }

  #jumpRedis(): void {
    const { server, dice } = this.#deps;
    this.#set("Redis's clock is", dice.pick(JUMPS_MS), (byMs) => {
      server.clockAheadMs += byMs;
    });
  }

  /** The time goes on from another one, by all that cells can know. */
  #courseChanges(): void {
    const { money } = this.#deps;
    money.isDayUnsure ||= money.isPeriodUnsure;
    money.isPeriodUnsure = true;
  }

  /** As where all machines slept, or where there is only one. */
  #jumpAll(): void {
    const { server, cells, dice } = this.#deps;
    this.#courseChanges();
    this.#set("all clocks are", dice.pick(JUMPS_MS), (byMs) => {
      this.#allAheadMs += byMs;
      server.clockAheadMs += byMs;
      for (const { process } of cells) if (process !== undefined) process.wallAheadMs += byMs;
    });
  }

  /** Its machine has no one who keeps its clock right, until it is far off and somebody sets it. */
  #driftRedis(): void {
    const { server, dice, limits, say } = this.#deps;
    const stepMs = dice.chance(0.5) ? UNSEEN_MS : -UNSEEN_MS;
    say(`Redis's clock drifts by ${stepMs} ms each ${DRIFT_EVERY_MS} ms`);
    limits.isClockWrong = true;
    this.#courseChanges();
    const drift = (ms: number) => {
      if (this.#isOver) return;
      if (Math.abs(ms) > DRIFT_MS) {
        say(`Redis's clock is set right by ${-ms} ms`);
        server.clockAheadMs -= ms;
        return;
      }
      server.clockAheadMs += stepMs;
      this.#later(DRIFT_EVERY_MS, () => drift(ms + stepMs));
    };
    drift(0);
  }

  /** All machines learn one after the other what time it is, and often Redis's is the last. */
  #jumpInTurn(): void {
    const { server, cells, dice, say } = this.#deps;
    this.#courseChanges();
    this.#set("all clocks are, one after the other,", dice.pick(JUMPS_MS), (byMs) => {
      this.#allAheadMs += byMs;
      const set: (() => void)[] = cells.map((cell) => () => {
        say(`the clock of ${cell.name} is set by ${byMs} ms`);
        if (cell.process !== undefined) cell.process.wallAheadMs += byMs;
      });
      const place = dice.chance(0.6) ? set.length : dice.integer(0, set.length);
      set.splice(place, 0, () => {
        say(`Redis's clock is set by ${byMs} ms`);
        server.clockAheadMs += byMs;
      });
      const everyMs = dice.between(200, 1000);
      for (const [at, act] of set.entries()) this.#later(at * everyMs, () => void (this.#isOver || act()));
    });
  }

  #restartRedis(): void {
    const { server, network, dice, say } = this.#deps;
    if (!server.isUp) return;
    say("Redis is killed");
    server.kill();
    network.cut();
    this.#later(dice.between(1, 800), () => {
      if (server.isUp) return;
      say("Redis is back");
      server.start();
    });
  }

  #failOver(): void {
    const { server, network, documents, say } = this.#deps;
    if (!server.isUp) return;
    say("a replica takes Redis's place");
    server.failOver();
    documents.failedOver();
    network.cut();
  }

  /** The process ends, and a copy of its folder, made a moment ago, is started for a while in place of the folder. */
  #copy(cell: SimCell): void {
    const { dice, say, money } = this.#deps;
    const copy = cell.folder.copy();
    this.#later(dice.between(1, 1000), () => {
      if (this.#isOver || cell.process?.isFenced === true) return;
      say(`${cell.name} is killed, and a copy of its folder is started`);
      cell.kill();
      // What the copy lacks and Redis does not have is not covered by a lease any more.
      if (cell.folder.log(CHARGES).newest > copy.log(CHARGES).newest) money.isCapUnsure = true;
      cell.wasCopied = true;
      cell.start(copy);
      const { process } = cell;
      if (process === undefined) return;
      process.isFenced = true;
      this.#later(dice.between(5, 800), () => {
        process.kill();
        if (cell.process === process) cell.start();
      });
    });
  }

  /** The cell gives no sign of life for so long that it may be retired; later it may come back. */
  #retire(cell: SimCell): void {
    const { process } = cell;
    const { dice, cells, say } = this.#deps;
    if (process === undefined || process.isDead || process.isPaused) return;
    if (dice.chance(0.5)) cell.kill();
    else process.pause();
    say(`${cell.name} gives no sign of life`);
    this.#later(RETIRE_SILENCE_MS + dice.between(500, 3000), () => {
      const other = cells.find(({ name, parts }) => name !== cell.name && parts !== undefined);
      if (this.#isOver || other?.parts === undefined || cell.process !== process) {
        this.#back(cell);
        return;
      }
      other.parts.process.run(() => {
        other.parts?.cell.retire(cell.name).then(
          (outcome) => {
            say(`${cell.name} is retired: ${outcome}`);
            if (outcome === true) {
              cell.wasRetired = true;
              process.isFenced = true;
            }
            this.#back(cell);
          },
          () => this.#back(cell),
        );
      });
    });
  }

  #back(cell: SimCell): void {
    this.#later(this.#deps.dice.between(0, 2000), () => {
      cell.process?.resume();
      if (!cell.isRunning) cell.start();
    });
  }

  #later(ms: number, act: () => void): void {
    this.#deps.time.after(ms, act);
  }
}
