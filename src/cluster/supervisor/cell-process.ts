/** One cell as its supervisor sees it: a child process on a folder of its own, started again when it dies. */
import type { ChildProcess } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import type { GatewayFigures } from "../../base/metrics/family.ts";
import { Backoff } from "./backoff.ts";
import type { BackupCall, CellOrder, EngineAddress, EngineUserRow, FromCell, ToCell } from "./messages.ts";
import type { CellsLog } from "./own-redis.ts";
import { answerOf, Questions } from "./questions.ts";
import type { ServiceCall, ServicesState } from "./services.ts";

/** `waiting`: it died and is started again after a pause. */
export type CellState = "starting" | "ready" | "leaving" | "waiting" | "stopped";

export interface CellOptions {
  readonly number: number;
  /** Starts the process, with an IPC channel. */
  readonly launch: () => ChildProcess;
  readonly log: CellsLog;
  readonly clock: Clock;
  /** A cell that was told to leave or stop is killed after this time. */
  readonly patienceMs: number;
  readonly onStarted: () => void;
  readonly onReady: (url: string) => void;
  readonly onMigrated: () => void;
  readonly onAnalysts: (users: readonly EngineUserRow[]) => void;
  /** It calls a service. @throws Error (as a rejection) of the service */
  readonly onServiceCall: (call: ServiceCall) => Promise<unknown>;
  /** It ended, by itself or not. @param wasAsked it had been told to */
  readonly onEnded: (code: number | null, wasAsked: boolean) => void;
}

export class CellProcess {
  readonly #options: CellOptions;
  readonly #backoff: Backoff;
  readonly number: number;
  #child: ChildProcess | undefined;
  // Before its start too: whoever waits for it must not take it for one that was stopped.
  #state: CellState = "starting";
  #restarts = 0;
  #isDrained = false;
  #readyMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #changed = Promise.withResolvers<void>();
  readonly #backups = new Questions<BackupCall>((backup, call) => this.#send({ backup, call }));
  readonly #metrics = new Questions<undefined>((metrics) => this.#send({ metrics }));

  constructor(options: CellOptions) {
    this.#options = options;
    this.number = options.number;
    this.#backoff = new Backoff(options.clock);
  }

  get state(): CellState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts that nobody asked for, because it had died. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Whether it was told to stop and to stay stopped. */
  get isDrained(): boolean {
    return this.#isDrained;
  }

  start(): void {
    clearTimeout(this.#timer);
    this.#be("starting");
    const child = this.#options.launch();
    this.#child = child;
    let isOver = false;
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      if (isOver) return;
      isOver = true;
      this.#ended(code, signal);
    };
    child.once("exit", ended);
    child.on("error", (err) => {
      this.#options.log.warn({ err, cell: this.number }, "a cell could not be started or told something");
      // One that could not be started, for want of descriptors or memory, never exits.
      if (child.pid === undefined) ended(null, null);
    });
    child.on("message", (message) => this.#heard(message as FromCell, child));
    this.#options.onStarted();
  }

  /** Tells the process to leave (SIGTERM), and resolves once it has ended. It does not start again by itself. */
  async leave(): Promise<void> {
    await this.#end(() => this.#child?.kill("SIGTERM"));
  }

  /** Like `leave`; it stays stopped until `resume`. */
  async drain(): Promise<void> {
    this.#isDrained = true;
    await this.leave();
  }

  /** Starts a cell that was drained, once it has stopped. */
  async resume(): Promise<void> {
    this.#isDrained = false;
    while (this.#state === "leaving") await this.#changed.promise;
    // A rolling restart, or another command, may have been faster.
    if (this.#state === "stopped") this.start();
  }

  /** Like `leave`, when everything stops. A second time: the process ends at once. */
  async stop(order: CellOrder): Promise<void> {
    await this.#end(() => this.#send({ order }));
  }

  /** Asks the process, for a backup of its folder. @throws Error that it answers, or where it does not within the time */
  backUp(call: BackupCall, withinMs: number): Promise<unknown> {
    if (this.#state !== "ready") return Promise.reject(new Error(`cell ${this.number} is ${this.#state}`));
    return this.#backups.ask(call, withinMs);
  }

  /** What the process measures. @throws Error (as a rejection) where it does not tell within the time */
  async figures(withinMs: number): Promise<GatewayFigures> {
    if (this.#child?.connected !== true) throw new Error(`cell ${this.number} is ${this.#state}`);
    return (await this.#metrics.ask(undefined, withinMs)) as GatewayFigures;
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  tellEngine(engine: EngineAddress): void {
    this.#send({ engine });
  }

  tellServices(services: ServicesState): void {
    this.#send({ services });
  }

  /** Resolves with true once it serves, with false once it is being stopped. */
  async isUp(): Promise<boolean> {
    while (this.#state !== "ready") {
      if (this.#state === "stopped" || this.#state === "leaving") return false;
      await this.#changed.promise;
    }
    return true;
  }

  async #end(tell: () => void): Promise<void> {
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) {
      this.#be("stopped");
      return;
    }
    this.#be("leaving");
    tell();
    const hard = setTimeout(() => {
      this.#options.log.error(
        { cell: this.number, cellPid: child.pid },
        "a cell did not stop in time and is killed",
      );
      child.kill("SIGKILL");
    }, this.#options.patienceMs);
    while (this.#child === child) await this.#changed.promise;
    clearTimeout(hard);
  }

  #send(message: ToCell): void {
    // Whoever does not hear it any more is about to end.
    if (this.#child?.connected === true) this.#child.send(message, () => {});
    else if ("order" in message) this.#child?.kill("SIGTERM");
  }

  #heard(message: FromCell, child: ChildProcess): void {
    if ("ready" in message) {
      if (this.#state !== "starting") return;
      this.#readyMs = this.#options.clock.monotonic();
      this.#be("ready");
      this.#options.onReady(message.ready.url);
    } else if ("migrated" in message) this.#options.onMigrated();
    else if ("backedUp" in message) this.#backups.heard(message.backedUp, message);
    else if ("measured" in message) this.#metrics.heard(message.measured, message);
    else if ("asked" in message) {
      const { asked: answered, call } = message;
      void answerOf(this.#options.onServiceCall(call)).then((answer) => {
        // A process that was started since counts its calls anew.
        if (this.#child === child) this.#send({ answered, ...answer });
      });
    } else this.#options.onAnalysts(message.analysts);
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const { clock, log, onEnded } = this.#options;
    const ranMs = this.#readyMs === undefined ? 0 : clock.monotonic() - this.#readyMs;
    const pid = this.#child?.pid;
    this.#child = undefined;
    this.#readyMs = undefined;
    for (const asked of [this.#backups, this.#metrics]) asked.fail(`cell ${this.number} has ended`);
    const wasAsked = this.#state === "leaving";
    if (wasAsked) this.#be("stopped");
    else {
      const { pauseMs, tell } = this.#backoff.ended(ranMs);
      if (tell > 0)
        log.error(
          { cell: this.number, cellPid: pid, code, signal, times: tell, pauseMs },
          "a cell ended; it is started again",
        );
      this.#be("waiting");
      this.#timer = setTimeout(() => {
        this.#restarts++;
        this.start();
      }, pauseMs);
    }
    onEnded(code, wasAsked);
  }

  #be(state: CellState): void {
    this.#state = state;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
