/**
 * The gateway's process in the simulation: the real store and rooms of credit, invoices, payments and billing, over a folder that
 * outlives it. It can be killed at any call to the payment service and at any act: nothing that was on its way comes back.
 */

import type { Timers } from "../../../src/base/clock.ts";
import type { HttpHead } from "../../../src/base/operation/http-head.ts";
import { sweepAutoTopups } from "../../../src/billing/auto-topups/jobs.ts";
import type { JobHandler, JobKind } from "../../../src/store/jobs/job.ts";
import { Jobs } from "../../../src/store/jobs/jobs.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { Dice } from "./dice.ts";
import type { Figures } from "./figures.ts";
import type { Portal } from "./portal.ts";
import { openRooms, type Rooms } from "./rooms.ts";
import type { Deliver, PaymentService, ServiceReply } from "./service.ts";

export interface ProcessOptions {
  readonly folder: string;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly figures: Figures;
  readonly service: PaymentService;
  readonly portal: Portal;
  /** Each act runs twice, and its first run is dropped. */
  readonly actsTwice: boolean;
  /** Called once it is open, before its jobs start. */
  readonly onOpen: (process: GatewayProcess) => Promise<void>;
  /** Called when it dies of itself, at a call or an act at which it was to die. */
  readonly onDeath: () => void;
  /** A failure of a job or a sweep that is no answer of the payment service. */
  readonly onFailure: (error: unknown) => void;
}

const never = (): Promise<never> => new Promise(() => {});
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The sweep lets others run between its slices: until it has ended, no time passes. */
class CountedJobs extends Jobs {
  readonly #work: { running: number };

  constructor(work: { running: number }, options: ConstructorParameters<typeof Jobs>[0]) {
    super(options);
    this.#work = work;
  }

  override handle<P>(kind: JobKind<P>, handler: JobHandler<P>): void {
    const run: typeof handler.run = async (payload, job) => {
      this.#work.running += 1;
      try {
        return await handler.run(payload, job);
      } finally {
        this.#work.running -= 1;
      }
    };
    super.handle(kind, kind.name === sweepAutoTopups.name ? { ...handler, run } : handler);
  }
}

export class GatewayProcess {
  readonly #options: ProcessOptions;
  readonly #raw: Store;
  readonly store: Store;
  #dead = false;
  /** Ends connections of others to it with it. */
  readonly #death = Promise.withResolvers<void>();
  #acts = 0;
  /** Acts that are not committed yet. */
  #waiting = 0;
  /** Calls or acts until it dies; infinite: it does not. */
  #callsToLive = Number.POSITIVE_INFINITY;
  #actsToLive = Number.POSITIVE_INFINITY;
  readonly #jobs: Jobs;
  #rooms: Rooms | undefined;

  private constructor(options: ProcessOptions, raw: Store) {
    this.#options = options;
    this.#raw = raw;
    this.store = this.#guarded(raw);
    this.#jobs = new CountedJobs(this.work, {
      store: this.store,
      clock: options.time,
      timers: this.#timers(),
      random: options.dice.random,
      holder: "cell",
      // Virtual time is never set: a look every five seconds would be nearly all that happens in a year.
      longestWaitMs: Number.POSITIVE_INFINITY,
      onFailure: (error) => this.#dead || options.onFailure(error),
    });
  }

  static async open(options: ProcessOptions): Promise<GatewayProcess> {
    const raw = openStore(options.folder, {
      actsTwice: options.actsTwice,
      onFailure: options.onFailure,
    });
    const process = new GatewayProcess(options, raw);
    process.#rooms = await openRooms({
      ...options,
      store: process.store,
      jobs: process.#jobs,
      timers: process.#timers(),
      onFailure: (error: unknown) => process.#dead || options.onFailure(error),
      send: (url, init) => process.#send(url, init),
    });
    await options.onOpen(process);
    await process.rooms.topUps.start();
    await process.#jobs.start();
    options.service.deliver = process.#deliver();
    return process;
  }

  get rooms(): Rooms {
    if (this.#rooms === undefined) throw new Error("it is not open");
    return this.#rooms;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Runs that let others run in between without time, and how many of them wait for the payment service. */
  readonly work = { running: 0, outside: 0 };

  get #works(): boolean {
    return !this.#dead && this.work.running > this.work.outside;
  }

  /** An act that nobody's death meets: for what the simulation itself does to the books. */
  plant<T>(act: () => T): Promise<T> {
    return this.#raw.act(act);
  }

  /** Nothing it began can go on without time. */
  async settled(): Promise<void> {
    for (let before = -1; before !== this.#acts || this.#waiting > 0 || this.#works; ) {
      before = this.#acts;
      await tick();
    }
  }

  /** From now on nothing that it began comes back, as after kill -9; what was committed stays. */
  kill(): void {
    if (this.#dead) return;
    this.end();
    this.#options.onDeath();
  }

  /** As `kill`, and nobody starts another one. */
  end(): void {
    this.#dead = true;
    this.#death.resolve();
    this.#options.service.deliver = undefined;
  }

  /** Dies at a call with an effect, before its answer arrives, or at an act. */
  dieSoon(): void {
    const { dice } = this.#options;
    if (dice.chance(0.5)) this.#callsToLive = dice.integer(1, 4);
    else this.#actsToLive = dice.integer(1, 12);
  }

  /** After its death: lets go of the folder. */
  async release(): Promise<void> {
    await this.settled();
    this.rooms.close();
    await this.#raw.close();
  }

  /** The hook of inbound webhooks, as the edge calls it. */
  #deliver(): Deliver {
    return async (bytes, header) => {
      if (this.#dead) return 0;
      const head: HttpHead = { header, cookie: () => undefined, address: "127.0.0.1" };
      try {
        const taken = this.rooms.inbound.hook.run(bytes, { gateway: "simulated" }, head, "");
        return await Promise.race([
          Promise.resolve(taken).then(() => 200),
          this.#death.promise.then(() => 0),
        ]);
      } catch {
        return 400;
      }
    };
  }

  async #send(url: string, init: RequestInit): Promise<ServiceReply> {
    if (this.#dead) return never();
    const atEffect = () => {
      this.#callsToLive -= 1;
      if (this.#callsToLive === 0) this.kill();
    };
    try {
      const reply = await this.#options.service.call(url, init, atEffect);
      return this.#dead ? await never() : reply;
    } catch (error) {
      if (this.#dead) return never();
      throw error;
    }
  }

  #timers(): Timers {
    return {
      after: (delayMs, act) => this.#options.time.after(delayMs, () => this.#dead || act()),
    };
  }

  #guarded(raw: Store): Store {
    return {
      table: (name, versions) => raw.table(name, versions),
      bytes: (name) => raw.bytes(name),
      log: (name) => raw.log(name),
      ifDropped: (undo, a, b, c, d) => raw.ifDropped(undo, a, b, c, d),
      healthy: () => raw.healthy(),
      unsaved: () => raw.unsaved(),
      caughtUp: () => raw.caughtUp(),
      onClose: (ending) => raw.onClose(ending),
      synced: () => raw.synced(),
      forgetRemoved: () => raw.forgetRemoved(),
      still: (act) => raw.still(act),
      close: () => raw.close(),
      act: (act, options) => this.#act(() => raw.act(act, options)),
    };
  }

  /** Half of the acts at which it dies are committed. */
  async #act<T>(run: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    this.#acts += 1;
    this.#actsToLive -= 1;
    const dies = this.#actsToLive <= 0;
    if (dies && this.#options.dice.chance(0.5)) {
      this.kill();
      return never();
    }
    this.#waiting += 1;
    const ran = await run().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    this.#waiting -= 1;
    if (dies) this.kill();
    if (this.#dead) return never();
    if ("error" in ran) throw ran.error;
    return ran.value;
  }
}
