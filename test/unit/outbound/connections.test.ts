/** Connections that are kept: for whom, how many, how long, and what becomes of a call that finds one closed. */
import { describe, expect, test } from "vitest";
import { answerOf, kindOf, openTest, outboundRig } from "../../support/outbound/fixtures.ts";
import { equals, until } from "../../support/wait.ts";

const rig = outboundRig();
const { send } = rig;

describe("connections", () => {
  test("are kept for the next call of the same origin", async () => {
    for (let i = 0; i < 5; i += 1) expect((await send()).status).toBe(200);
    expect(rig.receiver.sockets).toHaveLength(1);
    expect(rig.outbound.connections).toBe(1);
  });

  test("are not shared by names with the same address", async () => {
    await send();
    await send({ url: `http://localhost:${rig.receiver.port}/` });
    await send({ url: `http://a.localhost:${rig.receiver.port}/` });
    expect(rig.receiver.sockets).toHaveLength(3);
  });

  test("to one receiver are as many as calls under way may be", async () => {
    rig.outbound.close();
    rig.outbound = openTest({ maxCallsPerOrigin: 4 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => send()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(rig.receiver.sockets).toHaveLength(4);
    expect(rig.receiver.heads).toHaveLength(50);
  });

  test("without a call are bounded in all: the oldest is closed", async () => {
    rig.outbound.close();
    rig.outbound = openTest({ maxIdle: 2 });
    for (const name of ["a", "b", "c"]) await send({ url: `http://${name}.localhost:${rig.receiver.port}/` });
    await until("two connections are open", () => rig.outbound.connections, equals(2));
    await until(
      "the receiver has seen the oldest close",
      () => rig.receiver.sockets[0]?.readyState,
      (state) => state !== "open",
    );
    await send({ url: `http://b.localhost:${rig.receiver.port}/` });
    expect(rig.receiver.sockets).toHaveLength(3);
  });

  test("without a call are closed after a time", async () => {
    rig.outbound.close();
    rig.outbound = openTest({ idleMs: 20 });
    await send();
    await until("no connection is open", () => rig.outbound.connections, equals(0));
  });

  test("that carry more than the answer are not used again", async () => {
    rig.receiver.answer = (socket) => {
      socket.write(answerOf("mine") + answerOf("smuggled"));
    };
    expect(String((await send()).body)).toBe("mine");
    rig.receiver.answer = (socket) => socket.write(answerOf("second"));
    expect(String((await send()).body)).toBe("second");
    expect(rig.receiver.sockets).toHaveLength(2);
  });

  test("on which something arrives between calls are not used again", async () => {
    await send();
    rig.receiver.sockets[0]?.write(answerOf("smuggled"));
    await until("no connection is open", () => rig.outbound.connections, equals(0));
    expect(String((await send()).body)).toBe("ok");
  });

  test("that the receiver closes between calls are replaced", async () => {
    await send();
    rig.receiver.sockets[0]?.end();
    await until("no connection is open", () => rig.outbound.connections, equals(0));
    expect((await send()).status).toBe(200);
  });
});

describe("a kept connection that is closed just as the next request comes", () => {
  /** Closes each connection that comes with its second request; `text` is what it says before. */
  const closeAtSecond = (text = "") => {
    const seen = new Set<object>();
    rig.receiver.answer = (socket) => {
      if (!seen.has(socket)) {
        seen.add(socket);
        socket.write(answerOf("ok"));
      } else if (text === "") socket.resetAndDestroy();
      else socket.write(text, () => socket.destroy());
    };
  };

  test("is replaced by a new one, once, if the request may be repeated", async () => {
    closeAtSecond();
    await send();
    expect((await send({ repeatable: true })).status).toBe(200);
    expect([rig.receiver.heads.length, rig.receiver.sockets.length]).toEqual([3, 2]);
  });

  test("is replaced by a new one even if others were kept", async () => {
    closeAtSecond();
    await Promise.all([send(), send(), send()]);
    expect((await send({ repeatable: true })).status).toBe(200);
    expect([rig.receiver.heads.length, rig.receiver.sockets.length]).toEqual([5, 4]);
    expect(rig.outbound.connections).toBe(1);
  });

  test("fails a request that may not be repeated", async () => {
    closeAtSecond();
    await send();
    expect(await kindOf(send())).toBe("reset");
    expect(rig.receiver.heads).toHaveLength(2);
  });

  test("fails a request of whose answer a byte has arrived", async () => {
    closeAtSecond("H");
    await send();
    expect(await kindOf(send({ repeatable: true }))).toBe("reset");
    expect(rig.receiver.heads).toHaveLength(2);
  });

  test("fails a request whose new connection is closed too", async () => {
    await send();
    rig.receiver.answer = (socket) => socket.resetAndDestroy();
    expect(await kindOf(send({ repeatable: true }))).toBe("reset");
    expect(rig.receiver.heads).toHaveLength(3);
  });
});
