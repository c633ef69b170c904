/**
 * The gateway that `npm run bench -- instructions --quick` counts, as a process of its own: all of it as it is shipped, but for the
 * sockets of clients and upstream, which are in memory, and for the clock, which runs by calls. It tells its parent when a window
 * begins and ends, and waits for it.
 */
import crypto from "node:crypto";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { seededRandom } from "../../src/base/clock.ts";
import { ClientRequest, Clients } from "./client.ts";
import type { HeapFigures, HeapPlace } from "./heap-meter.ts";
import type { CalledKind, CallKind } from "./streams.ts";
import { MemoryUpstream, UPSTREAM_PORT } from "./upstream.ts";
import { VirtualTimers } from "./virtual-timers.ts";

export interface CountPlan {
  readonly scratchDir: string;
  /** Calls of each kind in a round of warm-up. */
  readonly warmUp: Readonly<Record<CallKind, number>>;
  readonly warmUpRounds: number;
  /** Calls of each kind in a window. */
  readonly calls: Readonly<Record<CallKind, number>>;
  readonly windows: number;
  /** Real time for the disk and other threads at each step of a window's end, also on a busy machine; this thread is idle meanwhile. */
  readonly settlePauseMs: number;
  /** Where the process is to say what it allocates in V8's heap. */
  readonly heap?: {
    /** Calls of each kind in a further window, in which each object is noted. */
    readonly objectCalls?: Readonly<Record<CallKind, number>>;
  };
}

/** What one window allocated, and where. */
export interface ObjectWindow {
  readonly of: CallKind;
  readonly calls: number;
  readonly places: readonly HeapPlace[];
}

export type CountMessage =
  | { readonly kind: "warm" }
  | { readonly kind: "begin" }
  | { readonly kind: "end"; readonly of: CallKind; readonly calls: number; readonly heap?: HeapFigures }
  | { readonly kind: "objects"; readonly windows: readonly ObjectWindow[] }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string };

const REPO = join(import.meta.dirname, "../..");
const MODEL = "weir/sim-small";
const PATH = "/v1/chat/completions";
/** Calls at the same time: they share commits, as the calls of a busy gateway do. */
const AT_ONCE = 16;
/** Time that passes with a call: so little that the store syncs and moves its rows at the end of a window alone, in one piece. */
const CALL_MS = 0.05;
const GRANT_USD = 1_000_000;
const CONFIG_FILES = [
  "weir.yaml",
  "providers.yaml",
  "plans.yaml",
  "supplier.yaml",
  "fx.yaml",
  "models/weir.yaml",
];
/** While the gateway starts, its clock follows that of the machine. */
const STEP_MS = 5;
/** At the end of a window the store does what it does a while after calls. Records wait longer for their insertion. */
const SETTLE_STEPS = 4;
const SETTLE_STEP_MS = 50;
/** Real time for ClickHouse to insert records, between two looks. */
const INSERT_PAUSE_MS = 20;
const MOST_PAUSES = 6_000;

/**
 * What is hot by the end of the warm-up is optimised and stays so. What becomes hot in a window would be compiled in it, which takes as
 * much as some hundred calls.
 */
const NO_MORE_OPTIMISING = "--no-opt";

const { setTimeout: realTimeout, setInterval: realInterval, clearInterval: clearReal } = globalThis;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const nothing = new Int32Array(new SharedArrayBuffer(4));
/** Stops this thread, and no other, for some time that costs no instructions. */
const pause = (ms: number): void => void Atomics.wait(nothing, 0, 0, ms);

const send = (message: CountMessage): void => void process.send?.(message);

/** Tells the parent, and waits until it has done what it does then. */
async function tell(message: CountMessage): Promise<void> {
  const answered = once(process, "message");
  send(message);
  await answered;
}

/** The parts of the process that are not the gateway's own; before any module of the gateway is loaded. */
function surroundings() {
  const timers = new VirtualTimers();
  timers.install();
  const library = new URL("./socket-library.ts", import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "uWebSockets.js" ? { url: library, shortCircuit: true } : next(specifier, context),
  });
  const upstream = new MemoryUpstream();
  upstream.install();
  // Ids are keys of rows: the same ones make the same trees.
  const random = seededRandom(1);
  const randomFillSync = (into: Uint32Array): Uint32Array => {
    for (let i = 0; i < into.length; i++) into[i] = Math.floor(random() * 2 ** 32);
    return into;
  };
  Object.assign(crypto, { randomFillSync });
  syncBuiltinESMExports();
  return { timers, upstream };
}

/**
 * An empty data folder, and the shipped configuration with a larger grant and the simulator's models alone: to read the others is a
 * fifth of a start, and what the catalog says of them has no part in the figures.
 */
function environment(scratchDir: string): Record<string, string> {
  const configDir = join(scratchDir, "counted-config");
  for (const file of CONFIG_FILES) cpSync(join(REPO, "config", file), join(configDir, file));
  const settings = join(configDir, "weir.yaml");
  writeFileSync(
    settings,
    `${readFileSync(settings, "utf8").replace(/^grant_usd:.*$/m, "")}\ngrant_usd: ${GRANT_USD}\n`,
  );
  return {
    HOST: "127.0.0.1",
    PORT: "0",
    LOG_LEVEL: "warn",
    CONFIG_DIR: configDir,
    DATA_DIR: join(scratchDir, "counted-data"),
    SIMULATOR_URL: `http://127.0.0.1:${UPSTREAM_PORT}`,
  };
}

interface Counting {
  readonly plan: CountPlan;
  readonly timers: VirtualTimers;
  readonly upstream: MemoryUpstream;
  readonly clients: Clients;
  readonly requests: ReadonlyMap<CallKind, { readonly called: CalledKind; readonly request: ClientRequest }>;
  /** Rows that are not inserted yet. */
  pendingRows(): number;
}

async function started(plan: CountPlan): Promise<Counting> {
  const { timers, upstream } = surroundings();
  const env = environment(plan.scratchDir);
  const following = realInterval(() => timers.advance(STEP_MS), STEP_MS);
  const { startSimulator } = await import("../../simulator/simulator.ts");
  const { calledKinds } = await import("./streams.ts");
  const simulator = await startSimulator({ keepBodyBytes: 0 });
  const kinds = await calledKinds(simulator, MODEL);
  await simulator.close();
  const { pino } = await import("pino");
  const { readConfig } = await import("../../src/host/settings/config.ts");
  const { startGateway } = await import("../../src/host/gateway/gateway.ts");
  const gateway = await startGateway(readConfig(env), pino({ level: "warn" }, process.stderr));
  while (!gateway.hasAnalytics()) await new Promise((resolve) => realTimeout(resolve, 10 * STEP_MS));
  clearReal(following);
  const secret = readFileSync(join(env.DATA_DIR ?? "", "first-key"), "utf8").trim();
  const { handlerOf } = await import("./socket-library.ts");
  return {
    plan,
    timers,
    upstream,
    clients: new Clients(handlerOf(`post ${PATH}`), AT_ONCE),
    requests: new Map(
      kinds.map((called) => [called.kind, { called, request: new ClientRequest(PATH, secret, called.body) }]),
    ),
    pendingRows: () => gateway.unsaved().outboxRows ?? 0,
  };
}

/** Makes calls of a kind, and all that follows them but the insertion of their records. */
async function call(counting: Counting, kind: CallKind, calls: number): Promise<void> {
  const { clients, timers, upstream, plan } = counting;
  const { called, request } = counting.requests.get(kind) as { called: CalledKind; request: ClientRequest };
  upstream.reads = called.reads;
  const minBytes = Buffer.byteLength(called.content.text);
  for (let i = 0; i < calls; i += AT_ONCE) {
    await clients.call(request, minBytes);
    timers.advance(AT_ONCE * CALL_MS);
  }
  for (let i = 0; i < SETTLE_STEPS; i++) {
    timers.advance(SETTLE_STEP_MS);
    pause(plan.settlePauseMs);
    await turn();
    await turn();
  }
}

/**
 * Until all records are inserted, which takes real time and so belongs to no window. The next insertion is 2 s later by the clock of the
 * timers: none falls into the window that follows.
 */
async function insert({ timers, pendingRows }: Counting): Promise<void> {
  for (let i = 0; pendingRows() > 0; i++) {
    if (i === MOST_PAUSES) throw new Error(`${pendingRows()} records are not inserted`);
    timers.advance(SETTLE_STEP_MS);
    pause(INSERT_PAUSE_MS);
    await turn();
  }
}

/** Before each window and at its end: so each has one collection of the young generation, of what its own calls have left. */
const collectYoung = (): void => void globalThis.gc?.({ type: "minor" });

/** @throws Error where an answer is not the upstream's */
async function checkAnswers({ clients, upstream, requests }: Counting): Promise<void> {
  const { isIntact } = await import("../fidelity.ts");
  for (const [kind, { called, request }] of requests) {
    upstream.reads = called.reads;
    const kept: string[] = [];
    await clients.call(request, 0, kept);
    if (!isIntact(kept.join(""), called.content, "chat"))
      throw new Error(`the gateway does not answer ${kind} with what the upstream said`);
  }
}

/** A window of each kind, in which each object that is allocated is noted. */
async function noteObjects(
  counting: Counting,
  kinds: readonly CallKind[],
  calls: Readonly<Record<CallKind, number>>,
  { ObjectMeter }: typeof import("./heap-meter.ts"),
): Promise<ObjectWindow[]> {
  const meter = new ObjectMeter();
  for (const kind of kinds) {
    collectYoung();
    collectYoung();
    meter.mark();
    await call(counting, kind, calls[kind]);
    meter.mark();
    await insert(counting);
  }
  const windows = meter.end();
  return kinds.map((of, i) => ({ of, calls: calls[of], places: windows[i] ?? [] }));
}

async function main(): Promise<void> {
  const plan: CountPlan = JSON.parse(process.argv[2] ?? "");
  process.once("disconnect", () => process.exit(1));
  const counting = await started(plan);
  await checkAnswers(counting);
  const kinds = [...counting.requests.keys()];
  for (let round = 0; round < plan.warmUpRounds; round++) {
    for (const kind of kinds) {
      await call(counting, kind, plan.warmUp[kind]);
      await insert(counting);
    }
  }
  setFlagsFromString(NO_MORE_OPTIMISING);
  await tell({ kind: "warm" });
  // Threads that waited when the counting began are counted from the next time they wake.
  for (const kind of kinds) {
    await call(counting, kind, AT_ONCE);
    await insert(counting);
  }
  // The meter is loaded only where the heap is measured: the counted instructions must be the same as without it.
  const meters = plan.heap === undefined ? undefined : await import("./heap-meter.ts");
  for (let window = 0; window < plan.windows; window++) {
    for (const kind of kinds) {
      // V8 moves an object to the old generation when it survives its second collection. Both are here, so that no window pays for it.
      collectYoung();
      collectYoung();
      await tell({ kind: "begin" });
      const meter = meters && new meters.HeapMeter();
      await call(counting, kind, plan.calls[kind]);
      const heap = meter?.end();
      collectYoung();
      await tell({ kind: "end", of: kind, calls: plan.calls[kind], ...(heap && { heap }) });
      await insert(counting);
    }
  }
  const objectCalls = plan.heap?.objectCalls;
  if (meters !== undefined && objectCalls !== undefined)
    await tell({ kind: "objects", windows: await noteObjects(counting, kinds, objectCalls, meters) });
  send({ kind: "done" });
}

main().catch((error: unknown) => {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.send?.({ kind: "failed", reason } satisfies CountMessage, () => process.exit(1));
});
