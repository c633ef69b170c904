/**
 * A payment service with its payers, people who ask, and a gateway that dies and starts again, all under one schedule. Webhooks
 * are delivered five times each. What people ask is asked again where the gateway died over it.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Api, type ApiRequest, type Fault } from "../../../simulator/payments/api.ts";
import { type Change, Engine } from "../../../simulator/payments/engine.ts";
import { timedSignature } from "../../../simulator/payments/notices.ts";
import { simulatedEvents, simulatedFront } from "../../../simulator/payments/simulated-api.ts";
import type { OrgRow } from "../../../src/account/org.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import type { HttpHead } from "../../../src/base/operation/http-head.ts";
import { MINUTE_MS } from "../../../src/base/time.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { type Death, PayProcess, type PayRooms, type Reply } from "./once.process.ts";
import { Schedule } from "./schedule.ts";

export const HOUSE = "simulated";
const SERVICE = { url: "http://payments", key: "smk_once", webhookSecret: "smw_once" };
const COPIES = 5;
/** A client asks again so often after an answer that says to. */
const TRIES = 12;
/** Refusals that say no more than "not now". */
const LATER = new Set(["gateway_unavailable", "not_refundable", "insufficient_credits", "no_mandate"]);
/** Every so many deaths the store is closed and opened again too. */
const HARD = 4;

/** The n-th call of the gateway to the service meets a fault. */
interface PlannedFault {
  readonly call: number;
  readonly kind: Fault["kind"];
  /** Only such calls are counted: a part of `METHOD /path`. Default: all. */
  readonly of?: string;
}

export interface RunOptions {
  readonly seed: number;
  readonly length: number;
  readonly deaths: readonly Death[];
  readonly faults: readonly PlannedFault[];
}

export class PayWorld {
  readonly schedule = new Schedule("2026-11-23T10:00:00Z");
  readonly #folder = mkdtempSync(join(tmpdir(), "weir-once-"));
  readonly #actsTwice: boolean;
  #raw: Store;
  #process: PayProcess | undefined;
  #newest: PayProcess | undefined;
  #reopening: Promise<void> = Promise.resolve();
  readonly engine: Engine;
  readonly #api: Api;
  readonly #front;
  #deaths: Death[] = [];
  #faults: (PlannedFault & { left: number })[] = [];
  #sweeps = false;
  /** Deaths in this world. */
  deathCount = 0;
  /** What should never happen, and did. */
  failures: unknown[] = [];
  onChange: (change: Change) => void = () => {};
  /** How the service's next refunds begin. */
  refundsBegin: ("refunded" | "pending" | "failed")[] = [];

  /** @param actsTwice runs each act twice, and drops the first run: slower */
  constructor(actsTwice: boolean) {
    this.#actsTwice = actsTwice;
    this.#raw = openStore(this.#folder, { actsTwice });
    this.engine = new Engine({ clock: this.schedule, random: seededRandom(14) });
    this.#api = new Api(this.engine.state);
    this.#front = simulatedFront(this.engine, SERVICE.key, (id) => `http://payments/pay/${id}`);
    this.engine.changed = (change) => this.#tell(change);
  }

  get rooms(): PayRooms {
    if (this.#process === undefined) throw new Error("the gateway does not run");
    return this.#process.rooms;
  }

  /** Rooms of the process that runs, or of the one that died last: what it committed is there. */
  get lastRooms(): PayRooms {
    if (this.#newest === undefined) throw new Error("no gateway ever ran");
    return this.#newest.rooms;
  }

  /** Puts what is there before. */
  async put(act: () => void): Promise<void> {
    await this.#raw.act(act);
  }

  /**
   * Starts over, with a gateway that runs; call before anything is put.
   * @param sweeps it looks after automatic top-ups, so timers never end. See `Schedule.run`
   */
  begin({ seed, length, deaths, faults }: RunOptions, sweeps = false): void {
    this.schedule.begin(seed, length);
    this.#sweeps = sweeps;
    this.#deaths = [...deaths];
    this.#faults = faults.map((fault) => ({ ...fault, left: fault.call }));
    this.#api.faults.length = 0;
    this.failures = [];
    this.refundsBegin = [];
    this.#start();
  }

  /** Until nothing is left to happen. See `Schedule`. */
  async run(leaps?: readonly number[], onLeap?: (leap: number) => void): Promise<void> {
    const settled = async () => {
      await this.#reopening;
      // Acts of one that has died are committed before the next one starts.
      await this.#newest?.settled();
    };
    await this.schedule.run(settled, leaps, onLeap);
    if (this.#process === undefined) this.#start();
  }

  end(): void {
    this.#process?.close();
    this.#process = undefined;
  }

  async dispose(): Promise<void> {
    this.end();
    await this.#raw.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #start(): void {
    this.#newest = this.#process = new PayProcess({
      raw: this.#raw,
      schedule: this.schedule,
      service: SERVICE,
      death: this.#deaths.shift(),
      sweeps: this.#sweeps,
      play: (url, init) => this.#play(url, init),
      onDeath: () => this.#onDeath(),
      onFailure: (error) => this.#onFailure(error),
    });
  }

  /** Faults of the payment service are what jobs are tried again for. */
  #onFailure(error: unknown): void {
    if (error instanceof Error && (error.name === "GatewayError" || error.name === "TimeoutError")) return;
    this.failures.push(error);
  }

  #onDeath(): void {
    const dead = this.#process;
    this.#process = undefined;
    const isHard = ++this.deathCount % HARD === 0;
    this.schedule.add("the gateway starts", () => {
      dead?.close();
      if (!isHard) return this.#start();
      this.#reopening = this.#raw.close().then(() => {
        this.#raw = openStore(this.#folder, { actsTwice: this.#actsTwice });
        this.#start();
      });
    });
  }

  #play(url: string, init: RequestInit): Reply | undefined {
    const { pathname, searchParams } = new URL(url);
    this.#plant(`${init.method} ${pathname}`);
    const headers = new Headers(init.headers);
    const request: ApiRequest = {
      method: init.method ?? "GET",
      path: pathname,
      query: searchParams,
      body: typeof init.body === "string" ? init.body : "",
      header: (name) => headers.get(name) ?? "",
    };
    this.engine.nextRefunds.length = 0;
    if (request.method === "POST" && pathname.endsWith("/refunds"))
      this.engine.nextRefunds.push(this.refundsBegin.shift() ?? "refunded");
    const { reply } = this.#api.play(this.#front, request);
    if (reply === undefined) return undefined;
    const text = JSON.stringify(reply.body);
    return { status: reply.status, headers: new Headers(reply.headers ?? {}), text: async () => text };
  }

  #plant(call: string): void {
    const counted = this.#faults.filter(({ of = "" }) => call.includes(of));
    for (const fault of counted) fault.left -= 1;
    const fault = counted.find(({ left }) => left === 0);
    if (fault !== undefined) this.#api.plant({ match: "", kind: fault.kind, retryAfterS: 20 });
  }

  #tell(change: Change): void {
    this.onChange(change);
    for (const { id, body } of simulatedEvents(change, this.engine.state.newId("sev")))
      for (let copy = 1; copy <= COPIES; copy++) this.#deliver(`webhook ${change.kind} ${id} ${copy}`, body);
  }

  /** Until it is answered with 200. */
  #deliver(what: string, body: string): void {
    this.ask(what, async ({ inbound }) => {
      const signature = timedSignature(body, SERVICE.webhookSecret, this.schedule.now());
      const header = (name: string) => (name === "weir-payments-signature" ? signature : "");
      await inbound.hook.run(Buffer.from(body), { gateway: HOUSE }, headOf(header), "");
    });
  }

  /** Somebody's call of the gateway, as a step; again after a death, and a minute after an answer that says to ask again. */
  ask<T>(
    what: string,
    run: (rooms: PayRooms) => T | Promise<T>,
    then: (value: T) => void = () => {},
    tries = TRIES,
  ): void {
    this.schedule.add(what, () => {
      const process = this.#process;
      const again = () => this.ask(what, run, then, tries - 1);
      if (process === undefined) return void this.ask(what, run, then, tries);
      const ran = (async () => run(process.rooms))().then(
        (value) => () => then(value),
        (error: unknown) => () => this.#onRefusal(error, tries > 1 ? again : undefined),
      );
      void Promise.race([ran, process.died.promise]).then((end) => {
        if (end === "died") this.ask(what, run, then, tries);
        else end();
      });
    });
  }

  #onRefusal(error: unknown, again: (() => void) | undefined): void {
    if (!(error instanceof WeirError)) return void this.failures.push(error);
    if (LATER.has(error.code)) {
      if (again !== undefined) this.schedule.after(5 * MINUTE_MS, again);
    } else this.failures.push(error);
  }

  /** Somebody does something at the payment service; what it refuses did not happen. */
  atService(what: string, act: () => void): void {
    this.schedule.add(what, () => {
      try {
        act();
      } catch (error) {
        if ((error as Error).name !== "SimRefusal") throw error;
      }
    });
  }
}

const headOf = (header: HttpHead["header"]): HttpHead => ({
  header,
  cookie: () => undefined,
  address: "127.0.0.1",
});

export const headWith = (key: string): HttpHead => headOf((name) => (name === "idempotency-key" ? key : ""));

/** Puts the org and gives it a calm start. */
export async function addOrg(world: PayWorld, org: OrgRow): Promise<void> {
  const { accounts } = world.rooms;
  await world.put(() => accounts.addOrg(org));
}
