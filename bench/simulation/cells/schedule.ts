/**
 * One schedule: some cells, a Redis and a network in virtual time, clients who come for a few seconds, and what goes wrong meanwhile. Then
 * all is mended, and when nothing moves any more, everything must agree. It follows from the seed alone.
 */

import { FORMATS } from "../../../src/cluster/cells/dataset/formats.ts";
import { DATASET_KEY, KEY_PREFIX } from "../../../src/cluster/cells/redis/keys.ts";
import { SCRIPTS } from "../../../src/cluster/cells/scripts/scripts.ts";
import { packContent } from "../../../src/store/lmdb/checked.ts";
import { Dice } from "../billing/dice.ts";
import { VirtualTime } from "../virtual-time.ts";
import { Broken } from "./broken.ts";
import { Clients } from "./clients.ts";
import { ACCOUNT_BEGINS_WITH, ACCOUNTS, DocumentsWatch } from "./documents-watch.ts";
import { LimitsWatch } from "./limits-watch.ts";
import { MoneyWatch } from "./money-watch.ts";
import { Network } from "./network.ts";
import { type Plan, planOf } from "./plan.ts";
import { type SimProcess, settled, takeTimers } from "./process.ts";
import type { Reply } from "./redis/commands.ts";
import { type Database, RedisError } from "./redis/database.ts";
import { Server } from "./redis/server.ts";
import { type CellParts, DATASET_ID, SimCell } from "./sim-cell.ts";
import { Troubles } from "./troubles.ts";

export interface ScheduleOptions {
  readonly seed: number;
  /** In place of what follows from the seed. */
  readonly plan?: Partial<Plan>;
  /** Told of what happens. */
  readonly onLine?: (line: string) => void;
  /** Told of each command that Redis ran, and what it has then. */
  readonly onRun?: (name: string, args: readonly string[], reply: Reply | RedisError, has: Database) => void;
}

export interface ScheduleResult {
  /** The promise that was broken. */
  readonly broken: string | undefined;
  /** Hash of all that happened. */
  readonly hash: string;
  readonly counts: ScheduleCounts;
}

export interface ScheduleCounts {
  readonly calls: number;
  readonly charges: number;
  readonly postings: number;
  readonly refusals: number;
  readonly acts: number;
  readonly commands: number;
  readonly troubles: number;
  readonly starts: number;
  readonly virtualMs: number;
}

/** Steps of the time in which nothing happens any more but what cells do by themselves. */
const STEP_MS = 400;
const MOST_STEPS = 150;
/** Cells are waited for at the beginning, but not for ever. */
const START_STEP_MS = 50;
const MOST_START_STEPS = 40;

export async function runSchedule(options: ScheduleOptions): Promise<ScheduleResult> {
  const giveBack = takeTimers();
  try {
    return await new Schedule(options).run();
  } finally {
    giveBack();
  }
}

/** A folder lacks what Redis knows of its cell. */
const BEHIND = /^(?:Redis knows what rows|this folder is a copy of an older state)/;
/** It ends before its end. */
class Over extends Error {}
const LIVES = `${KEY_PREFIX}lives`;
/** A process cannot start without Redis. */
const CANNOT_START =
  /^(?:Redis cannot be reached|Redis's clock says|Redis's channels cannot be heard|Connection is closed|Stream isn't writeable)/;

class Schedule {
  readonly #options: ScheduleOptions;
  readonly #dice: Dice;
  readonly #plan: Plan;
  readonly #time: VirtualTime;
  readonly #server: Server;
  readonly #network: Network;
  readonly #cells: SimCell[];
  readonly #money: MoneyWatch;
  readonly #limits: LimitsWatch;
  readonly #documents: DocumentsWatch;
  readonly #clients: Clients;
  readonly #troubles: Troubles;
  #isActive = true;
  #isOver = false;
  #broken: string | undefined;
  #commands = 0;
  #hash = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#dice = new Dice(options.seed);
    const dice = this.#dice;
    const plan = { ...planOf(dice), ...options.plan };
    this.#plan = plan;
    const time = new VirtualTime(plan.beginMs);
    this.#time = time;
    const { pageRows, streamEntries } = plan;
    this.#server = new Server({
      time,
      pageRows,
      streamEntries,
      hasReplica: plan.replicas > 0,
      replicaLagMs: () => dice.between(0.2, 8),
      onRun: (name, args, reply) => this.#ran(name, args, reply),
      onEntry: (version, fields) => this.#try(() => this.#documents.committed(version, fields)),
    });
    const server = this.#server;
    this.#network = new Network({ time, dice, server });
    this.#network.delayMs = { least: 0.05, most: dice.pick([0.5, 3, 20]) };
    this.#cells = [];
    const deps = { plan, server, cells: this.#cells };
    this.#money = new MoneyWatch(deps);
    this.#documents = new DocumentsWatch(plan, server);
    this.#limits = new LimitsWatch(plan, time.monotonic);
    const [money, limits, documents, cells, network] = [
      this.#money,
      this.#limits,
      this.#documents,
      this.#cells,
      this.#network,
    ];
    this.#clients = new Clients({
      plan,
      dice,
      money,
      limits,
      documents,
      isActive: () => this.#isActive,
      onBroken: ({ message }) => this.#break(message),
    });
    const say = (line: string) => this.#say(line);
    this.#troubles = new Troubles({
      time,
      dice,
      plan,
      server,
      network,
      cells,
      limits,
      documents,
      money,
      say,
    });
    for (const name of plan.cells) cells.push(this.#makeCell(name, say));
  }

  async run(): Promise<ScheduleResult> {
    try {
      this.#fill();
      for (const cell of this.#cells) this.#time.after(this.#dice.between(0, 50), () => cell.start());
      const isTroubledStart = this.#dice.chance(0.3);
      if (isTroubledStart) this.#troubles.begin();
      for (let step = 0; step < MOST_START_STEPS && !this.#isServing(); step++)
        await this.#until(START_STEP_MS);
      if (!isTroubledStart) this.#troubles.begin();
      await this.#until(this.#plan.activeMs);
      this.#isActive = false;
      this.#say("nobody comes any more, and all is mended");
      this.#troubles.mend();
      await this.#untilIdle();
      this.#money.checkLedger();
      this.#documents.check(this.#cells);
    } catch (error) {
      if (error instanceof Broken) this.#break(error.message);
      else if (!(error instanceof Over)) throw error;
    }
    for (const cell of this.#cells) cell.kill();
    return {
      broken: this.#broken,
      hash: (this.#hash >>> 0).toString(16).padStart(8, "0"),
      counts: this.#counts(),
    };
  }

  #counts(): ScheduleCounts {
    const { calls, charges, postings, refusals } = this.#money.counts;
    return {
      calls,
      charges,
      postings,
      refusals,
      commands: this.#commands,
      acts: this.#documents.counts.committed,
      troubles: this.#troubles.made,
      starts: this.#cells.reduce((sum, { starts }) => sum + starts, 0),
      virtualMs: this.#time.monotonic(),
    };
  }

  #makeCell(name: string, say: (line: string) => void): SimCell {
    const [dice, plan, network, time] = [this.#dice, this.#plan, this.#network, this.#time];
    return new SimCell(name, {
      time,
      network,
      plan,
      say,
      isDiskFull: (cell) => this.#troubles.isDiskFull(cell),
      onNumbered: (_, charges) => this.#try(() => this.#money.numbered(charges)),
      onUncharged: (_, calls) => this.#money.uncharged(calls),
      onStarted: (cell, parts) => this.#started(cell, parts),
      onEnded: (cell, process, reason) => this.#ended(cell, process, reason, dice),
    });
  }

  #started(cell: SimCell, parts: CellParts): void {
    if (cell.process !== parts.process || parts.process.isFenced) return;
    // The clients begin with the first cell that serves.
    if (this.#cells.every(({ starts }) => starts <= 1) && cell === this.#cells[0])
      this.#clients.begin(parts).catch(() => {});
    this.#clients.come(cell, parts);
  }

  #ended(cell: SimCell, process: SimProcess, reason: Error, dice: Dice): void {
    const { parts } = cell;
    const isStart = parts?.process !== process;
    const isInOrder = isStart && CANNOT_START.test(reason.message);
    // By a start of an earlier process, which reached Redis late.
    const life = this.#server.database.hash(LIVES).get(cell.name);
    const isOver = reason.message.startsWith("WEIRFENCED") && (isStart || parts?.cell.entered.life !== life);
    // The copy is the newer one now: the operator must go on with that, and the schedule is over.
    this.#isOver ||= isStart && cell.wasCopied && BEHIND.test(reason.message);
    if (!isInOrder && !isOver && !process.isFenced && !this.#isOver)
      this.#break(`${cell.name} may not go on: ${reason.stack}`);
    if (cell.process === process) this.#time.after(dice.between(10, 500), () => this.#restart(cell));
  }

  #restart(cell: SimCell): void {
    if (!cell.isRunning) cell.start();
  }

  /** The dataset that cells join. */
  #fill(): void {
    const rows = Array.from({ length: this.#plan.accounts }, (_, at) => [
      ACCOUNTS,
      JSON.stringify(["all", at]),
      Buffer.from(packContent(ACCOUNT_BEGINS_WITH)).toString("latin1"),
    ]);
    const answer = (reply: Reply | RedisError) => {
      if (reply instanceof RedisError) throw reply;
    };
    const run = (text: string, ...args: string[]) =>
      this.#server.receive(
        "EVAL",
        [Buffer.from(text).toString("latin1"), "1", DATASET_KEY, DATASET_ID, ...args],
        answer,
      );
    run(SCRIPTS.create.text, ":upload", String(FORMATS.newest));
    run(SCRIPTS.fill.text, ...rows.flat());
    run(SCRIPTS.open.text);
  }

  #isServing(): boolean {
    return this.#cells.every(({ parts }) => parts !== undefined);
  }

  async #until(ms: number): Promise<void> {
    const endMs = this.#time.monotonic() + ms;
    while (this.#time.monotonic() < endMs) {
      const stepMs = Math.min(STEP_MS, endMs - this.#time.monotonic());
      await this.#time.runUntil(this.#time.now() + stepMs, settled);
      if (this.#broken !== undefined) throw new Broken(this.#broken);
      if (this.#isOver) throw new Over();
    }
  }

  async #untilIdle(): Promise<void> {
    let problem: string | undefined = "";
    for (let step = 0; step < MOST_STEPS && problem !== undefined; step++) {
      await this.#until(STEP_MS);
      problem = this.#problem();
    }
    if (problem !== undefined) throw new Broken(`does not come to rest: ${problem}`);
  }

  #problem(): string | undefined {
    const waiting = this.#cells.find(({ parts }) => parts === undefined);
    if (waiting !== undefined) return `${waiting.name} does not serve`;
    const unsaved = this.#cells.find(({ parts }) => (parts?.cell.store.unsaved() ?? 0) > 0);
    if (unsaved !== undefined) return `acts of ${unsaved.name} are under way`;
    const open = this.#cells.find(({ parts }) => (parts?.purse.open().holds ?? 0) > 0);
    if (open !== undefined) return `${open.name} has open holds`;
    return (
      this.#money.problemsAtIdle() ??
      this.#limits.problemsAtIdle(this.#server) ??
      this.#documents.problemsAtIdle(this.#cells)
    );
  }

  #ran(name: string, args: readonly string[], reply: Reply | RedisError): void {
    this.#commands++;
    this.#mix(this.#time.monotonic());
    this.#mix(name.length + args.reduce((sum, { length }) => sum + length, 0));
    this.#options.onRun?.(name, args, reply, this.#server.database);
    if (name === "EVAL") this.#try(() => this.#money.checkRedis());
  }

  #try(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      this.#break(error.message);
    }
  }

  #break(what: string): void {
    if (this.#broken !== undefined) return;
    this.#broken = what;
    this.#say(`BROKEN: ${what}`);
  }

  #say(line: string): void {
    for (let at = 0; at < line.length; at++) this.#mix(line.charCodeAt(at));
    this.#options.onLine?.(`${this.#time.monotonic().toFixed(2).padStart(9)} ms  ${line}`);
  }

  #mix(number: number): void {
    this.#hash = Math.imul(this.#hash ^ Math.floor(number * 1000), 0x01000193) ^ (this.#hash >>> 13);
  }
}
