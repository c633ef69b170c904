/**
 * The cell's end of the channel to its supervisor. A cell whose supervisor dies hears the channel close, and stops: nobody would
 * start it again or end it.
 */
import { inTime } from "../../base/clock.ts";
import type { GatewayFigures } from "../../base/metrics/family.ts";
import type { OwnEngine } from "./engine-sharing.ts";
import type { BackupCall, CellOrder, EngineAddress, FromCell, ToCell } from "./messages.ts";
import { type Answer, answerOf } from "./questions.ts";
import { type KnownServices, RemoteServices } from "./services.ts";

/** The part of `process` that is used: a test gives another. */
export interface Channel {
  send?(message: FromCell): unknown;
  readonly connected?: boolean;
  on(event: "message", heard: (message: ToCell) => void): unknown;
  on(event: "disconnect", heard: () => void): unknown;
}

export interface CellSide {
  /** The engine that the cells share. */
  readonly engine: CellEngine;
  /** Those that the cells of the machine share. */
  readonly services: KnownServices;
  /** Resolves with the first order: `stop` also when the supervisor has died. */
  readonly ordered: Promise<CellOrder>;
  /** Called at each order. */
  onOrder(heard: (order: CellOrder) => void): void;
  /** Does what a backup of the cell's folder asks for. */
  onBackup(act: (call: BackupCall) => Promise<unknown>): void;
  /** Tells what the gateway measures. */
  onMetrics(read: () => Promise<GatewayFigures>): void;
  isReady(url: string): void;
  isMigrated(): void;
}

/** Fits what analytics calls an engine. */
export interface CellEngine extends OwnEngine {
  /** The engine is the supervisor's child. */
  pid(): undefined;
  restarts(): number;
}

/** The number of this cell where a supervisor started this process, else undefined. */
export function cellNumber(env: NodeJS.ProcessEnv, hasChannel: boolean): number | undefined {
  const number = Number(env.WEIR_CELL);
  return hasChannel && Number.isInteger(number) && number > 0 ? number : undefined;
}

export function cellSide(channel: Channel): CellSide {
  const { promise: ordered, resolve: order } = Promise.withResolvers<CellOrder>();
  let heard: (order: CellOrder) => void = () => {};
  let first: CellOrder | undefined;
  const obey = (what: CellOrder) => {
    first ??= what;
    order(what);
    heard(what);
  };
  const say = (message: FromCell) => {
    try {
      channel.send?.(message);
    } catch {
      // The supervisor has died: "disconnect" follows.
    }
  };
  const backups = answersTo<BackupCall, unknown>((backedUp, answer) => say({ backedUp, ...answer }));
  const metrics = answersTo<void, GatewayFigures>((measured, answer) => say({ measured, ...answer }));
  const shared = sharedEngine(say);
  const services = new RemoteServices((number, call) => say({ asked: number, call }));
  channel.on("message", (message) => {
    if ("order" in message) {
      obey(message.order);
      return;
    }
    if ("backup" in message) backups.asked(message.backup, message.call);
    else if ("metrics" in message) metrics.asked(message.metrics);
    else if ("services" in message) services.heardState(message.services);
    else if ("answered" in message) services.heardAnswer(message.answered, message);
    else shared.heard(message.engine);
  });
  channel.on("disconnect", () => {
    services.end();
    obey("stop");
  });
  if (channel.connected === false) obey("stop");
  return {
    ordered,
    services,
    onBackup: backups.on,
    onMetrics: metrics.on,
    onOrder(act) {
      heard = act;
      // One may have come while the gateway started.
      if (first !== undefined) act(first);
    },
    isReady: (url) => say({ ready: { url } }),
    isMigrated: () => say({ migrated: true }),
    engine: shared.engine,
  };
}

/** The engine of the supervisor, whose address it tells, and tells anew where that changes. */
function sharedEngine(say: (message: FromCell) => void) {
  let address: EngineAddress | undefined;
  let waiting: ((address: EngineAddress) => void)[] = [];
  const engine: CellEngine = {
    pid: () => undefined,
    restarts: () => 0,
    setAnalysts: (analysts) => say({ analysts }),
    stop: () => Promise.resolve(),
    async address(withinMs) {
      if (address !== undefined) return address;
      const { promise, resolve } = Promise.withResolvers<EngineAddress>();
      waiting.push(resolve);
      return await inTime(promise, withinMs, () => {
        waiting = waiting.filter((waiter) => waiter !== resolve);
        throw new Error("the embedded analytics engine is not up");
      });
    },
  };
  return {
    engine,
    heard(told: EngineAddress) {
      address = told;
      for (const resolve of waiting.splice(0)) resolve(told);
    },
  };
}

/** Answers questions of one kind, each with its number, by what is given with `on`; before that, with an error. */
function answersTo<Question, Value>(say: (number: number, answer: Answer<Value>) => void) {
  let act = (_: Question): Promise<Value> => Promise.reject(new Error("the cell is starting"));
  return {
    on(does: (question: Question) => Promise<Value>) {
      act = does;
    },
    asked(number: number, question: Question) {
      void answerOf(act(question)).then((answer) => say(number, answer));
    },
  };
}
