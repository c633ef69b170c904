/**
 * `npm run bench -- detached`: what an event costs of streams that go on without their client, each told to some readers, beside plain
 * streams of the same pace, and what memory such a call takes. One gateway as shipped; the rounds take turns.
 */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { cpuTime, memory } from "./measure.ts";
import { withProcesses } from "./processes.ts";
import { startSimulator } from "./simulator.ts";
import { type StartedProduct, startProduct } from "./targets/weir.ts";

export const DETACHED_USAGE = `Calls that outlive their client: npm run bench -- detached
  --calls N     streams at a time (2000)
  --readers N   readers of each detached one (3)
  --tokens N    events of a stream (40)
  --gap-ms N    between two of them (250)
  --rounds N    of each kind, taking turns (3)`;

/** CPU a delivered event of detached streams over that of plain ones: at most this. */
const MOST_TIMES = 1.3;

interface Settings {
  readonly calls: number;
  readonly readers: number;
  readonly tokens: number;
  readonly gapMs: number;
  readonly rounds: number;
}

interface Figures {
  /** Events that clients and readers got. */
  readonly events: number;
  /** Microseconds of CPU of the gateway for each. */
  readonly eventUs: number;
  /** Kilobytes that its memory grew by for each call, at its highest. */
  readonly callKb: number;
}

interface Heard {
  readonly id: string;
  events: number;
}

const DATA = Buffer.from("\ndata: ");
const FIRST = Buffer.from("data: ");
const HEAD_END = "\r\n\r\n";

/** A request over a connection of its own; counts the events of its answer. */
class Listener {
  readonly done: Promise<Heard>;
  readonly head: Promise<string>;

  /** @param leavesAfterHead the client closes its connection once it knows the call's id */
  constructor(url: URL, request: string, leavesAfterHead: boolean) {
    const socket = connect(Number(url.port), url.hostname, () => socket.write(request));
    const head = Promise.withResolvers<string>();
    this.head = head.promise;
    const heard = { id: "", events: 0 };
    let text = "";
    this.done = new Promise((resolve, reject) => {
      socket.on("data", (bytes) => {
        if (heard.id === "") {
          text += bytes.toString("latin1");
          const end = text.indexOf(HEAD_END);
          if (end < 0) return;
          heard.id = /\r\nx-svc-request-id: (\w+)/i.exec(text)?.[1] ?? "?";
          head.resolve(heard.id);
          heard.events += count(Buffer.from(text.slice(end), "latin1"));
          if (leavesAfterHead) socket.destroy();
          if (!text.startsWith("HTTP/1.1 200")) reject(new Error(text.slice(0, 500)));
        } else heard.events += count(bytes);
        if (bytes.subarray(-5).toString("latin1") === "0\r\n\r\n") socket.end();
      });
      socket.once("error", reject).once("close", () => resolve(heard));
    });
    this.done.catch(head.reject);
  }
}

function count(bytes: Buffer): number {
  let found = bytes.subarray(0, FIRST.length).equals(FIRST) ? 1 : 0;
  for (let at = bytes.indexOf(DATA); at >= 0; at = bytes.indexOf(DATA, at + 1)) found++;
  return found;
}

function requestOf(product: StartedProduct, method: string, path: string, body?: object): [URL, string] {
  const url = new URL(product.baseUrl);
  const text = body === undefined ? "" : JSON.stringify(body);
  const lines = Object.entries({
    ...product.headers,
    host: url.host,
    ...(body && { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return [url, `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`];
}

const callBody = ({ tokens, gapMs }: Settings, onDisconnect: string) => ({
  model: "weir/sim-small",
  stream: true,
  messages: [{ role: "user", content: `[[sim tokens=${tokens} gap_ms=${gapMs} first_ms=2000]]` }],
  svc: { on_disconnect: onDisconnect },
});

/** Streams begin evenly spread over the time between two events. */
async function spread<T>({ calls, gapMs }: Settings, begin: () => Promise<T>): Promise<T[]> {
  const all: Promise<T>[] = [];
  for (let i = 0; i < calls; i++) {
    all.push(begin());
    if (i % 20 === 19) await sleep((20 * 4 * gapMs) / calls);
  }
  return await Promise.all(all);
}

async function measured(
  product: StartedProduct,
  settings: Settings,
  run: () => Promise<number>,
): Promise<Figures> {
  const { pid } = product.started;
  const restKb = memory(pid).residentKb;
  let mostKb = restKb;
  const look = setInterval(() => {
    mostKb = Math.max(mostKb, memory(pid).residentKb);
  }, 100);
  const before = cpuTime(pid).ownUs;
  const events = await run();
  const usedUs = cpuTime(pid).ownUs - before;
  clearInterval(look);
  return { events, eventUs: usedUs / events, callKb: (mostKb - restKb) / settings.calls };
}

const plain = (product: StartedProduct, settings: Settings) => async (): Promise<number> => {
  const heard = await spread(settings, () => {
    const request = requestOf(product, "POST", "/v1/chat/completions", callBody(settings, "cancel"));
    return new Listener(...request, false).done;
  });
  return heard.reduce((sum, { events }) => sum + events, 0);
};

const detached = (product: StartedProduct, settings: Settings) => async (): Promise<number> => {
  const read = async (id: string) =>
    (await new Listener(...requestOf(product, "GET", `/v1/generation/${id}/stream`), false).done).events;
  const heard = await spread(settings, async () => {
    const request = requestOf(product, "POST", "/v1/chat/completions", callBody(settings, "detach"));
    const id = await new Listener(...request, true).head;
    return await Promise.all(Array.from({ length: settings.readers }, () => read(id)));
  });
  return heard.flat().reduce((sum, events) => sum + events, 0);
};

/** @returns the table, and 1 where an event of a detached stream costs too much */
export async function benchDetached(
  args: readonly string[],
  { repoDir, cacheDir, say }: { repoDir: string; cacheDir: string; say(line: string): void },
): Promise<{ readonly text: string; readonly exitCode: number }> {
  const settings = settingsOf(args);
  return await withProcesses(async (processes, scratchDir) => {
    const { url: upstreamUrl } = await startSimulator(processes, repoDir);
    const context = { processes, upstreamUrl, scratchDir, cacheDir, repoDir, say };
    const product = await startProduct(context, "weir", { env: { LOG_LEVEL: "error" } });
    const kinds = { plain: plain(product, settings), detached: detached(product, settings) };
    const found: Record<keyof typeof kinds, Figures[]> = { plain: [], detached: [] };
    for (let round = 0; round <= settings.rounds; round++) {
      for (const kind of ["plain", "detached"] as const) {
        say(`${kind}, ${round === 0 ? "to warm up" : `round ${round}`}`);
        const figures = await measured(product, settings, kinds[kind]);
        if (round > 0) found[kind].push(figures);
        // Records of the calls are inserted meanwhile.
        await sleep(2000);
      }
    }
    return report(settings, found);
  });
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

function report(
  { calls, readers, tokens, gapMs }: Settings,
  { plain: alone, detached: read }: Record<"plain" | "detached", readonly Figures[]>,
): { readonly text: string; readonly exitCode: number } {
  const of = (all: readonly Figures[], figure: (figures: Figures) => number) => median(all.map(figure));
  const times = of(read, ({ eventUs }) => eventUs) / of(alone, ({ eventUs }) => eventUs);
  const line = (name: string, all: readonly Figures[]) =>
    `${name.padEnd(34)} ${of(all, ({ events }) => events)
      .toFixed(0)
      .padStart(10)} ${of(all, ({ eventUs }) => eventUs)
      .toFixed(1)
      .padStart(12)} ${of(all, ({ callKb }) => callKb)
      .toFixed(1)
      .padStart(10)}`;
  const text = [
    `${calls} streams of ${tokens} events, ${gapMs} ms apart`,
    `${"".padEnd(34)} ${"delivered".padStart(10)} ${"µs an event".padStart(12)} ${"KB a call".padStart(10)}`,
    line("plain, each to its client", alone),
    line(`detached, each to ${readers} readers`, read),
    `an event delivered: ${times.toFixed(2)} × (at most ${MOST_TIMES})`,
  ].join("\n");
  return { text, exitCode: times > MOST_TIMES ? 1 : 0 };
}

/** @throws Error for an unknown option */
function settingsOf(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      calls: { type: "string", default: "2000" },
      readers: { type: "string", default: "3" },
      tokens: { type: "string", default: "40" },
      "gap-ms": { type: "string", default: "250" },
      rounds: { type: "string", default: "3" },
    },
  });
  return {
    calls: Number(values.calls),
    readers: Number(values.readers),
    tokens: Number(values.tokens),
    gapMs: Number(values["gap-ms"]),
    rounds: Number(values.rounds),
  };
}
