/**
 * Webhooks of every bad kind beside good ones, while the process that sends is killed -9: each good receiver gets each event,
 * soon and signed; the bad ones cost the others nothing; and nothing private is ever reached.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { rest } from "../../support/pace.ts";
import { until } from "../../support/wait.ts";
import { fault } from "../../support/webhooks/receiver.ts";
import { CERTIFICATE, KEY } from "./certificate.ts";
import type { Plan, Said, Tally } from "./sender.ts";

const EVENTS = amount(10_000, 120);
/** Few enough for two processors that others use too: each event is 50 deliveries in the whole. */
const PER_S = 20;
const KILLS = amount(3, 1);
const WELL = amount(31, 6);
const SLOW = amount(10, 2);
const DEAD = amount(5, 1);
const FLAPPING = amount(2, 1);
const P99_MS = 2_000;
const SENDER = fileURLToPath(new URL("sender.ts", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "weir-webhooks-"));
const servers: Server[] = [];
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listening<S extends Server>(server: S, host = "127.0.0.1", port = 0): Promise<number> {
  servers.push(server);
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

interface Got {
  /** By event: when it came first, and when the event was made. */
  readonly events: Map<string, { readonly atMs: number; readonly madeMs: number }>;
  readonly faults: string[];
  requests: number;
}

const got = new Map<string, Got>();
const secrets = new Map<string, string>();

/** Keeps what a receiver gets, and then answers. */
function receiving(name: string, answer: RequestListener): RequestListener {
  const mine: Got = { events: new Map(), faults: [], requests: 0 };
  got.set(name, mine);
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const atMs = Date.now();
      const body = Buffer.concat(chunks).toString();
      mine.requests++;
      const headers = request.headers as Record<string, string>;
      const wrong = fault({ headers, body }, secrets.get(name) ?? "");
      const event = JSON.parse(body);
      if (wrong !== "" || event.id !== headers["webhook-id"]) mine.faults.push(wrong);
      if (!mine.events.has(event.id))
        mine.events.set(event.id, { atMs, madeMs: Date.parse(event.created_at) });
      answer(request, response);
    });
  };
}

const good: RequestListener = (_, response) => void response.writeHead(204).end();
const after =
  (ms: number): RequestListener =>
  (_, response) =>
    void rest(ms).then(() => response.writeHead(204).end());
/** Three seconds well, three seconds not. */
const flapping: RequestListener = (_, response) =>
  void response.writeHead(Math.floor(Date.now() / 3000) % 2 ? 503 : 204).end();

/** Starts all receivers. @returns their URLs by name, and how many connections reached what is private */
async function startReceivers() {
  let intrusions = 0;
  const urls: Record<string, string> = {};
  const add = async (name: string, answer: RequestListener) => {
    const port = await listening(createHttpServer(receiving(name, answer)));
    urls[name] = `http://127.0.0.1:${port}/${name}`;
  };
  for (let n = 0; n < WELL; n++) await add(`well${n}`, good);
  for (let n = 0; n < SLOW; n++) await add(`slow${n}`, after(5_000));
  for (let n = 0; n < FLAPPING; n++) await add(`flapping${n}`, flapping);
  for (let n = 0; n < DEAD; n++) {
    const port = await listening(createTcpServer());
    servers.pop()?.close();
    urls[`dead${n}`] = `http://127.0.0.1:${port}/dead${n}`;
  }
  const intruder = () =>
    createTcpServer((socket) => {
      intrusions++;
      socket.destroy();
    });
  const secretPort = await listening(intruder(), "127.0.0.66");
  await add(
    "redirecting",
    (_, response) => void response.writeHead(307, { location: `http://127.0.0.66:${secretPort}/` }).end(),
  );
  const tls = createTlsServer({ cert: CERTIFICATE, key: KEY }, receiving("rebinding", good));
  const tlsPort = await listening(tls);
  await listening(intruder(), "127.0.0.66", tlsPort);
  urls.rebinding = `https://rebind.example.com:${tlsPort}/rebinding`;
  return { urls, intrusions: () => intrusions };
}

interface Sender {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  committed: number;
  cpuS: number;
  ended: Readonly<Record<string, Tally>> | undefined;
}

/** Starts the process that sends; `onCommitted` is told of each event. */
function startSender(plan: Plan, onCommitted: (sender: Sender) => void): Sender {
  const child = spawn(process.execPath, [SENDER, folder, JSON.stringify(plan)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
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
    if ("committed" in said) {
      sender.committed = said.committed;
      onCommitted(sender);
    }
  });
  return sender;
}

const names = (kind: string) => [...got.keys()].filter((name) => name.startsWith(kind));
const gotBy = (name: string) => got.get(name) as Got;

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

test(
  `${WELL} good receivers beside ${SLOW} slow, ${DEAD} dead, ${FLAPPING} flapping, a redirecting and a rebinding one get ${EVENTS} events, with ${KILLS} kills -9`,
  async () => {
    const { urls, intrusions } = await startReceivers();
    const plan: Plan = { urls, events: EVENTS, perS: PER_S };
    const outages: [fromMs: number, toMs: number][] = [];
    let cpuS = 0;
    let sender = startSender(plan, () => {});
    const startMs = Date.now();
    for (let kill = 1; kill <= KILLS; kill++) {
      const at = Math.floor((EVENTS * kill) / (KILLS + 1));
      await committed(sender, at);
      const fromMs = Date.now();
      sender.child.kill("SIGKILL");
      await once(sender.child, "exit");
      cpuS += sender.cpuS;
      sender = startSender(plan, () => {});
      await sender.ready;
      outages.push([fromMs, Date.now()]);
    }
    await committed(sender, EVENTS);
    const wellHaveAll = () => names("well").every((name) => gotBy(name).events.size >= EVENTS);
    await until("the good ones have all events", wellHaveAll);
    sender.child.stdin?.end();
    await once(sender.child, "exit");
    const { ended = {} } = sender;
    const wholeMs = Date.now() - startMs;
    cpuS += sender.cpuS;

    // Those made while the sender was dead, or before it could send them, wait for its next start.
    const isUndisturbed = (madeMs: number) =>
      outages.every(([fromMs, toMs]) => madeMs < fromMs - 1000 || madeMs > toMs + 500);
    const all = names("well").flatMap((name) => [...gotBy(name).events.values()]);
    const waits = (times: typeof all) => times.map(({ atMs, madeMs }) => atMs - madeMs).sort((a, b) => a - b);
    const share = (sorted: readonly number[], part: number) =>
      sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
    const calm = waits(all.filter(({ madeMs }) => isUndisturbed(madeMs)));
    const whole = waits(all);
    const figures = {
      ...{ wholeMs, cpuS, outagesMs: outages.map(([from, to]) => to - from), intrusions: intrusions() },
      calm: { count: calm.length, p50: share(calm, 0.5), p99: share(calm, 0.99), most: calm.at(-1) },
      whole: { count: whole.length, p50: share(whole, 0.5), p99: share(whole, 0.99), most: whole.at(-1) },
      requests: Object.fromEntries([...got].map(([name, mine]) => [name, [mine.requests, mine.events.size]])),
      ended,
    };
    if (EVENTS > 1000) console.log(JSON.stringify(figures));

    expect([...got].flatMap(([name, { faults }]) => faults.map((text) => `${name}: ${text}`))).toEqual([]);
    expect(names("well").map((name) => gotBy(name).events.size)).toEqual(Array(WELL).fill(EVENTS));
    expect(share(calm, 0.99)).toBeLessThan(P99_MS);
    expect(intrusions()).toBe(0);
    expect(ended.redirecting?.delivered).toBe(0);
    expect(ended.redirecting?.errors.join()).toContain("redirects are not followed");
    expect(ended.rebinding?.errors.join()).toContain("not allowed");
    for (const name of Object.keys(urls).filter((text) => text.startsWith("dead"))) {
      expect(ended[name]?.delivered).toBe(0);
      // Left alone, it is not called for each event.
      expect(ended[name]?.attempts).toBeLessThan(EVENTS / 2);
    }
  },
  amount(3_600_000, 110_000),
);
