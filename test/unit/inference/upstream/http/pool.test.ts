/** Connections at their delicate moments: each test brings a real one to a moment, and does something to it there. */
import { readFile } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConnectionPool } from "../../../../../src/inference/upstream/http/pool.ts";
import { closedPort } from "../../../../support/gateway.ts";
import { equals, until } from "../../../../support/wait.ts";
import { answerOf, type Call, poolOf, type RawProvider, send, startRawProvider } from "./raw-provider.ts";

let provider: RawProvider;
let pool: ConnectionPool;
beforeEach(async () => {
  provider = await startRawProvider();
  pool = poolOf(provider.origin);
});
afterEach(async () => {
  const closed = pool.close();
  await provider.close();
  await closed;
});

/** Answers a call with one byte. @returns what the call heard */
async function answered(call: Call): Promise<readonly string[]> {
  (await provider.asked()).write(answerOf("a"));
  await call.done;
  return call.heard;
}

const WELL = ["sent", "200", '"a"', "end"];

/** An idle connection, on which one call was answered. */
async function idle() {
  expect(await answered(send(pool))).toEqual(WELL);
  return provider.sockets[0] as (typeof provider.sockets)[0];
}

/** Calls back where Node has just looked at sockets: nothing looks at them again before the next round of the loop. */
const whileSocketsAreRead = () => new Promise((resolve) => readFile(import.meta.filename, resolve));

describe("where rounds of the event loop are long", () => {
  /** An idle connection of a pool that has seen a long round: each reading of its clock is 2 ms after the one before. */
  async function idleInLongRounds() {
    let nowMs = 0;
    const monotonic = () => {
      nowMs += 2;
      return nowMs;
    };
    pool = new ConnectionPool(provider.origin, 5_000, { now: monotonic, monotonic });
    const socket = await idle();
    expect(await answered(send(pool))).toEqual(WELL);
    await whileSocketsAreRead();
    return socket;
  }

  test("a request is sent at the end of the round that brought it", async () => {
    await idleInLongRounds();
    const call = send(pool);
    await turn();
    expect(call.heard).toEqual(["sent"]);
    expect(await answered(call)).toEqual(WELL);
    expect(provider.sockets).toHaveLength(1);
  });

  test.each<[string, (socket: Awaited<ReturnType<typeof idle>>) => void]>([
    ["an answer that was not asked for", (socket) => socket.write(answerOf("evil"))],
    ["one byte", (socket) => socket.write("H")],
    ["its end", (socket) => socket.destroy()],
    ["its reset", (socket) => socket.resetAndDestroy()],
  ])("a connection is closed by %s right before a request, which another one carries", async (_, act) => {
    const socket = await idleInLongRounds();
    act(socket);
    const call = send(pool);
    await turn();
    expect(call.heard).toEqual([]);
    expect(await answered(call)).toEqual(WELL);
    expect(provider.sockets).toHaveLength(2);
  });
});

describe("an idle connection", () => {
  test.each([
    ["an answer that nobody asked for", answerOf("evil")],
    ["one byte", "H"],
  ])("is closed by %s, even if a request comes right behind it", async (_, bytes) => {
    const socket = await idle();
    await whileSocketsAreRead();
    socket.write(bytes);
    expect(await answered(send(pool))).toEqual(WELL);
    expect(provider.sockets).toHaveLength(2);
  });

  test.each([
    ["ended", "destroy"],
    ["reset", "resetAndDestroy"],
  ] as const)("that is %s while a request comes loses nothing of it", async (_, end) => {
    const socket = await idle();
    await whileSocketsAreRead();
    socket[end]();
    expect(await answered(send(pool))).toEqual(WELL);
    expect(provider.sockets).toHaveLength(2);
  });

  test("is given to one request only", async () => {
    await idle();
    const calls = [send(pool), send(pool), send(pool)];
    for (const _ of calls) (await provider.asked()).write(answerOf("a"));
    for (const call of calls) await call.done;
    expect(provider.sockets).toHaveLength(3);
  });

  test("is used by a call that is made in the end of the one before", async () => {
    let next: Call | undefined;
    const first = send(pool, {
      onEnd() {
        next = send(pool);
      },
    });
    await answered(first);
    expect(await answered(next as Call)).toEqual(WELL);
    expect(provider.sockets).toHaveLength(1);
  });
});

describe("a provider that answers before it has the whole request", () => {
  test("is heard, and its connection not used again: the rest would be taken for the next request", async () => {
    const call = send(pool, {}, Buffer.alloc(32 * 1024 * 1024));
    const socket = await provider.asked();
    socket.pause();
    socket.write(answerOf("a"));
    await call.done;
    expect(call.heard).toEqual(WELL);
    expect(await answered(send(pool))).toEqual(WELL);
    expect(provider.sockets).toHaveLength(2);
  });
});

describe("a connection that breaks", () => {
  test.each([
    ["before the answer", "", []],
    ["in the head", "HTTP/1.1 200 OK\r\nconte", []],
    ["behind the head", answerOf("ab").slice(0, -2), ["200"]],
    ["in the body", answerOf("ab").slice(0, -1), ["200", '"a"']],
  ])("%s, fails its call once", async (_, bytes, heard) => {
    for (const end of ["end", "resetAndDestroy"] as const) {
      const call = send(pool);
      const socket = await provider.asked();
      const local = call.connection as unknown as { readonly isClosed: boolean };
      if (bytes !== "") socket.write(bytes);
      await until(
        "the call has heard it",
        () => call.heard,
        ({ length }) => length === heard.length + 1,
      );
      socket[end]();
      await call.done;
      await until("the connection is closed", () => local.isClosed && pool.connections === 0);
      // Where bytes and their reset arrive together, Node tells of an end only.
      const code =
        end === "end" ? "connection_closed" : expect.stringMatching("^(ECONNRESET|connection_closed)$");
      expect(call.heard).toEqual(["sent", ...heard, code]);
    }
  });

  test("is not opened: nothing was sent", async () => {
    const refused = poolOf(`http://127.0.0.1:${await closedPort()}`);
    const call = send(refused);
    await call.done;
    expect(call.heard).toEqual(["ECONNREFUSED"]);
    await until("no connection is open", () => refused.connections, equals(0));
  });

  test("is not opened in time, because the handshake of TLS hangs", async () => {
    const silent = poolOf(provider.origin.replace("http:", "https:"), 50);
    const call = send(silent);
    await call.done;
    expect(call.heard).toEqual(["connect_timeout"]);
    await silent.close();
  });
});

describe("a call that is over", () => {
  test("before its connection is open is not sent; the next one has the connection", async () => {
    const call = send(pool);
    call.over = true;
    await until(
      "the provider has a connection",
      () => provider.sockets,
      ({ length }) => length === 1,
    );
    await turn();
    expect(await answered(send(pool))).toEqual(WELL);
    expect([call.heard, provider.sockets.length]).toEqual([[], 1]);
  });

  test("on an idle connection before it is sent is not sent; the next one has the connection", async () => {
    await idle();
    const call = send(pool);
    call.over = true;
    await turn();
    await turn();
    await turn();
    expect(await answered(send(pool))).toEqual(WELL);
    expect([call.heard, provider.sockets.length]).toEqual([[], 1]);
  });

  test.each(["onSent", "onHead", "onData"] as const)("in %s hears nothing more", async (moment) => {
    const call = send(pool, { [moment]: ({ connection }: Call) => connection?.abort() });
    if (moment !== "onSent") {
      const socket = await provider.asked();
      socket.write(answerOf("a"));
    }
    await until("its connection is closed", () => call.connection !== undefined && pool.connections === 0);
    expect(call.heard).toEqual(WELL.slice(0, { onSent: 1, onHead: 2, onData: 3 }[moment]));
    expect(await answered(send(pool))).toEqual(WELL);
  });
});

describe("a handler that throws", () => {
  test.each(["onHead", "onData"] as const)("in %s is told, and its connection closed", async (moment) => {
    const call = send(pool, {
      [moment]() {
        throw new Error("of the handler");
      },
    });
    expect(await answered(call)).toEqual([
      ...WELL.slice(0, moment === "onHead" ? 2 : 3),
      "Error: of the handler",
    ]);
    await until("no connection is open", () => pool.connections, equals(0));
    expect(await answered(send(pool))).toEqual(WELL);
  });

  test("in its end harms no other call", async () => {
    let next: Call | undefined;
    const call = send(pool, {
      onEnd() {
        next = send(pool);
        throw new Error("of the handler");
      },
    });
    await answered(call);
    expect(await answered(next as Call)).toEqual(WELL);
  });
});

describe("a pause", () => {
  test.each(["onHead", "onData"] as const)("in %s of an answer's last read ends with it", async (moment) => {
    const call = send(pool, { [moment]: ({ connection }: Call) => connection?.pause() });
    expect(await answered(call)).toEqual(WELL);
    expect(await answered(send(pool))).toEqual(WELL);
    expect(provider.sockets).toHaveLength(1);
  });

  test("holds back what comes, and the end of the connection, until it is resumed", async () => {
    const call = send(pool, { onHead: ({ connection }) => connection?.pause() });
    const socket = await provider.asked();
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    await until(
      "the call has heard both",
      () => call.heard,
      ({ length }) => length === 2,
    );
    await new Promise((resolve) => socket.end("a", () => resolve(undefined)));
    for (let i = 0; i < 5; i += 1) await turn();
    expect(call.heard).toEqual(["sent", "200"]);
    call.connection?.resume();
    await call.done;
    expect(call.heard).toEqual(WELL);
  });
});

describe("close", () => {
  test("closes idle connections, and may be called twice", async () => {
    await idle();
    await Promise.all([pool.close(), pool.close()]);
    expect(pool.connections).toBe(0);
    await pool.close();
  });

  test.each([
    ["being opened for", async () => {}],
    ["reserved for", idle],
  ])("waits for a connection %s a request, and for its answer", async (_, prepare) => {
    await prepare();
    const call = send(pool);
    const closed = pool.close();
    expect(await answered(call)).toEqual(WELL);
    await closed;
    expect(pool.connections).toBe(0);
  });

  test("waits for a request whose idle connection was just closed by the provider", async () => {
    const socket = await idle();
    await whileSocketsAreRead();
    socket.destroy();
    const call = send(pool);
    let isClosed = false;
    const closed = pool.close().then(() => {
      isClosed = true;
    });
    const next = await provider.asked();
    expect([provider.sockets.length, isClosed]).toEqual([2, false]);
    next.write(answerOf("a"));
    await call.done;
    await closed;
  });

  test("does not wait for a call that is over before its connection is open", async () => {
    const call = send(pool);
    call.over = true;
    await pool.close();
    expect(call.heard).toEqual([]);
  });
});

test("an address of IPv6 is called", async ({ skip }) => {
  const six = await startRawProvider("::1").catch(() => skip("no IPv6 here"));
  const sixPool = poolOf(six.origin);
  const call = send(sixPool);
  (await six.asked()).write(answerOf("a"));
  await call.done;
  expect(call.heard).toEqual(WELL);
  await sixPool.close();
  await six.close();
});
