/** Events for webhooks of every bad kind beside good ones, while the process that sends is killed -9. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { amount } from "../../../support/effort.ts";
import { until } from "../../../support/wait.ts";
import { type Kinds, Receivers } from "./receivers.ts";
import type { Plan, Said, Tally } from "./sender.ts";

/** Few enough for two processors that others use too: each event is 50 deliveries in the whole. */
const PER_S = 20;
const SENDER = fileURLToPath(new URL("sender.ts", import.meta.url));

export const EVENTS = amount(10_000, 120);
export const KILLS = amount(3, 1);
export const KINDS: Kinds = {
  well: amount(31, 6),
  slow: amount(10, 2),
  dead: amount(5, 1),
  flapping: amount(2, 1),
};

export interface Delivered {
  readonly receivers: Receivers;
  /** What the sender says of each of them in the end. */
  readonly ended: Readonly<Record<string, Tally>>;
  /** How long each good receiver waited, in order, for events that were made while the sender was alive and had been for a while. */
  readonly calmMs: readonly number[];
}

interface Sender {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  committed: number;
  cpuS: number;
  ended: Readonly<Record<string, Tally>> | undefined;
}

/** Has all events sent to all receivers, until the good ones have them. They and the sender live until the test is over. */
export async function deliver(): Promise<Delivered> {
  const folder = mkdtempSync(join(tmpdir(), "weir-webhooks-"));
  const receivers = await Receivers.start(KINDS);
  const start = () => startSender(folder, receivers);
  let sender = start();
  onTestFinished(() => {
    sender.child.kill("SIGKILL");
    receivers.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const outages: [fromMs: number, toMs: number][] = [];
  let cpuS = 0;
  const startMs = Date.now();
  for (let kill = 1; kill <= KILLS; kill++) {
    await committed(sender, Math.floor((EVENTS * kill) / (KILLS + 1)));
    const fromMs = Date.now();
    sender.child.kill("SIGKILL");
    await once(sender.child, "exit");
    cpuS += sender.cpuS;
    sender = start();
    await sender.ready;
    outages.push([fromMs, Date.now()]);
  }
  await committed(sender, EVENTS);
  await until(
    "the good ones have all events",
    () => receivers.wellGot().map((events) => events.size),
    (counts) => counts.every((count) => count >= EVENTS),
  );
  sender.child.stdin?.end();
  await once(sender.child, "exit");
  const { ended = {} } = sender;

  // Those made while the sender was dead, or before it could send them, wait for its next start.
  const isUndisturbed = (madeMs: number) =>
    outages.every(([fromMs, toMs]) => madeMs < fromMs - 1000 || madeMs > toMs + 500);
  const all = receivers.wellGot().flatMap((events) => [...events.values()]);
  const waits = (times: typeof all) => times.map(({ atMs, madeMs }) => atMs - madeMs).sort((a, b) => a - b);
  const calmMs = waits(all.filter(({ madeMs }) => isUndisturbed(madeMs)));
  const figures = {
    wholeMs: Date.now() - startMs,
    cpuS: cpuS + sender.cpuS,
    intrusions: receivers.intrusions,
    outagesMs: outages.map(([from, to]) => to - from),
    calm: distribution(calmMs),
    whole: distribution(waits(all)),
    requests: Object.fromEntries(
      [...receivers.got].map(([name, mine]) => [name, [mine.requests, mine.events.size]]),
    ),
    ended,
  };
  if (EVENTS > 1000) console.log(JSON.stringify(figures));
  return { receivers, ended, calmMs };
}

/** The least of sorted figures that so large a part of them does not exceed. */
export const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.ceil(sorted.length * part) - 1] ?? 0;

const distribution = (sorted: readonly number[]) => ({
  count: sorted.length,
  p50: share(sorted, 0.5),
  p99: share(sorted, 0.99),
  most: sorted.at(-1),
});

/** Starts the process that sends. */
function startSender(folder: string, { urls, secrets }: Receivers): Sender {
  const plan: Plan = { urls, events: EVENTS, perS: PER_S };
  const child = spawn(process.execPath, [SENDER, folder, JSON.stringify(plan)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const sender: Sender = { child, ready, committed: 0, cpuS: 0, ended: undefined };
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    // The last line of a killed process may be cut.
    if (!line.endsWith("}")) return;
    const said: Said = JSON.parse(line);
    if ("endpoint" in said) secrets.set(said.endpoint, said.secret);
    if ("ready" in said) resolve();
    if ("cpuS" in said) sender.cpuS = said.cpuS;
    if ("ended" in said) sender.ended = said.ended;
    if ("committed" in said) sender.committed = said.committed;
  });
  return sender;
}

/** As long as it commits more, a wait for many events may be longer than one wait may be. */
async function committed(sender: Sender, all: number): Promise<void> {
  while (sender.committed < all) {
    const before = sender.committed;
    await until(
      "more events are committed",
      () => sender.committed,
      (count) => count > before,
    );
  }
}
