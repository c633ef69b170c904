/**
 * A network between cells and Redis that fails on purpose: a proxy on a unix socket. It cuts connections before or after Redis has
 * got a request, amid its bytes or those of the reply, holds requests and replies back, and delays replies.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rest } from "../pace.ts";

export interface FaultProxy {
  /** Path of its socket. */
  readonly url: string;
  /** The next requests that hold this text never reach Redis: their connections are cut. */
  cutBefore(text: string, times?: number): void;
  /** The next requests that hold this text reach Redis, but their connections are cut in place of the reply. */
  cutAfter(text: string, times?: number): void;
  /** The next request that holds this text reaches Redis only up to the middle of the text, and its connection is cut. */
  cutWithin(text: string): void;
  /** The next request that holds this text reaches Redis; half of its reply's bytes come back, and the connection is cut. */
  cutWithinReply(text: string): void;
  /** Connections that were cut by request. */
  cuts(): number;
  /** Replies come so much later. */
  delay(ms: number): void;
  /** Nothing passes in either direction until `resume`, as with a paused process. */
  pause(): void;
  resume(): void;
  /** Requests that hold this text wait until `letGo`; later ones of their connections may overtake them. */
  hold(text: string): void;
  /** Requests that wait because of `hold`. */
  waiting(): number;
  letGo(): void;
  /** Replies are thrown away from now on. */
  dropReplies(isDropped: boolean): void;
  /** New connections go to another Redis, and those that there are end. */
  redirect(target: string): void;
  /** Refuses connections, and ends those that there are. */
  refuse(isRefused: boolean): void;
  close(): Promise<void>;
}

type Place = "before" | "within" | "after" | "within the reply";

interface Order {
  readonly text: Buffer;
  readonly place: Place;
  left: number;
}

export async function startFaultProxy(redis: string): Promise<FaultProxy> {
  const folder = mkdtempSync(join(tmpdir(), "weir-proxy-"));
  const url = join(folder, "proxy.sock");
  const pairs = new Set<readonly [Socket, Socket]>();
  const held: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  let orders: Order[] = [];
  let heldText: Buffer | undefined;
  let target = redis;
  let [cuts, delayMs] = [0, 0];
  let [isPaused, isDropping, isRefusing] = [false, false, false];
  const pass = (to: Socket, bytes: Buffer) => {
    const write = () => void (to.destroyed || to.write(bytes));
    if (isPaused) held.push(write);
    else write();
  };
  const orderFor = (bytes: Buffer): Order | undefined => {
    const order = orders.find(({ text }) => bytes.includes(text));
    if (order === undefined) return undefined;
    order.left--;
    cuts++;
    orders = orders.filter(({ left }) => left > 0);
    return order;
  };
  const server = createServer((client) => {
    if (isRefusing) return void client.destroy();
    const upstream = connect(target);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    /** Where the connection is to be cut. */
    let doom: Place | undefined;
    let isOver = false;
    /** Cuts once the other end has this. */
    const endWith = (to: Socket, bytes: Buffer) => {
      isOver = true;
      to.write(bytes, end);
    };
    let replies: Promise<unknown> = Promise.resolve();
    let late = 0;
    client.on("data", (bytes) => {
      if (isOver) return;
      const order = orderFor(bytes);
      if (order?.place === "before") return end();
      if (order?.place === "within") {
        const { text } = order;
        return endWith(upstream, bytes.subarray(0, bytes.indexOf(text) + text.length / 2));
      }
      doom ??= order?.place;
      if (heldText !== undefined && bytes.includes(heldText)) waiting.push(() => pass(upstream, bytes));
      else pass(upstream, bytes);
    });
    upstream.on("data", (bytes) => {
      if (isOver) return;
      if (doom === "after") return end();
      if (doom !== undefined) return endWith(client, bytes.subarray(0, bytes.length / 2));
      if (isDropping) return;
      const due = rest(delayMs);
      // In their order, also when the delay ends.
      if (delayMs > 0 || late > 0) {
        late++;
        replies = Promise.all([replies, due]).then(() => {
          late--;
          pass(client, bytes);
        });
      } else pass(client, bytes);
    });
    for (const socket of pair) socket.on("error", end).on("close", end);
  });
  await new Promise<void>((resolve) => server.listen(url, resolve));
  const endAll = () => {
    for (const pair of [...pairs]) for (const socket of pair) socket.destroy();
  };
  const order = (text: string, place: Place, times = 1) =>
    void orders.push({ text: Buffer.from(text), place, left: times });
  return {
    url,
    cutBefore: (text, times) => order(text, "before", times),
    cutAfter: (text, times) => order(text, "after", times),
    cutWithin: (text) => order(text, "within"),
    cutWithinReply: (text) => order(text, "within the reply"),
    cuts: () => cuts,
    delay(ms) {
      delayMs = ms;
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      for (const write of held.splice(0)) write();
    },
    hold(text) {
      heldText = Buffer.from(text);
    },
    waiting: () => waiting.length,
    letGo() {
      heldText = undefined;
      for (const go of waiting.splice(0)) go();
    },
    dropReplies(isDropped) {
      isDropping = isDropped;
    },
    redirect(to) {
      target = to;
      endAll();
    },
    refuse(isRefused) {
      isRefusing = isRefused;
      if (isRefused) endAll();
    },
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
