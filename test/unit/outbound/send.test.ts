/** Calls to receivers that answer well, badly, late or not at all, over real sockets. */
import { type AddressInfo, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { closedPort } from "../../support/gateway.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "../../support/outbound/certificates.ts";
import {
  answerOf,
  failureOf,
  kindOf,
  openTest,
  outboundRig,
  rulesOf,
  startReceiver,
} from "../../support/outbound/fixtures.ts";
import { again } from "../../support/pace.ts";
import { equals, until } from "../../support/wait.ts";

const rig = outboundRig();
const { send } = rig;

describe("a request", () => {
  test("has the name's Host, what the caller says, a length, and asks for no coding", async () => {
    const url = `http://localhost:${rig.receiver.port}/a?b=c`;
    await send({ url, body: "äö", headers: { "webhook-id": "msg_1", "content-type": "application/json" } });
    expect(rig.receiver.heads).toEqual([
      [
        "POST /a?b=c HTTP/1.1",
        `host: localhost:${rig.receiver.port}`,
        "webhook-id: msg_1",
        "content-type: application/json",
        "content-length: 4",
        "Connection: keep-alive",
      ].join("\r\n"),
    ]);
  });

  test("of GET has no length", async () => {
    await send({ method: "GET", body: "" });
    expect(rig.receiver.heads[0]).not.toContain("content-length");
  });

  test.each([
    [{ headers: { Host: "other" } }, "The header Host is set by the gateway."],
    [{ headers: { "Transfer-Encoding": "chunked" } }, "The header Transfer-Encoding is set by the gateway."],
    [{ headers: { "accept-encoding": "gzip" } }, "The header accept-encoding is set by the gateway."],
    [{ headers: { a: "b\r\nc: d" } }, 'Invalid character in header content ["a"]'],
    [{ headers: { "a:": "b" } }, "Header name must be a valid HTTP token"],
    [{ method: "GET / HTTP/1.1\r\n" }, "Method must be a valid HTTP token"],
    [{ method: "CONNECT" }, "The method CONNECT is not sent."],
  ])("that cannot be sent as it is, is not sent: %j", async (request, message) => {
    const failed = failureOf(send(request));
    expect(await failed).toBeInstanceOf(TypeError);
    expect((await failed).message).toContain(message);
    // It has left no place occupied.
    for (let i = 0; i < 70; i += 1) await failureOf(send(request));
    expect((await send()).status).toBe(200);
  });
});

describe("an answer", () => {
  test.each([
    ["200 OK", 200],
    ["204 No Content", 204],
    ["410 Gone", 410],
    ["500 Internal Server Error", 500],
    ["599 ", 599],
  ])("of status %s is an answer", async (status, expected) => {
    rig.receiver.answer = (socket) => socket.write(answerOf(expected === 204 ? "" : "text", "", status));
    const { durationMs, fields: _, ...answer } = await send();
    const body = Buffer.from(expected === 204 ? "" : "text");
    expect(answer).toEqual({ status: expected, headers: {}, body, isCut: false, isShown: false });
    expect(durationMs).toBeGreaterThan(0);
  });

  test("tells how long to wait, and its type", async () => {
    rig.receiver.answer = (socket) =>
      socket.write(
        answerOf("{}", "Retry-After: 120\r\nContent-Type: application/json\r\nX: y\r\n", "429 Slow"),
      );
    expect((await send()).headers).toEqual({ retryAfter: "120", contentType: "application/json" });
    rig.receiver.answer = (socket) => socket.write(answerOf("", `Retry-After: ${"1".repeat(300)}\r\n`));
    expect((await send()).headers).toEqual({});
  });

  test("is not decoded", async () => {
    const bytes = gzipSync("a".repeat(1_000_000));
    rig.receiver.answer = (socket) =>
      socket.write(answerOf(bytes.toString("latin1"), "content-encoding: gzip\r\n"), "latin1");
    expect((await send()).body).toEqual(bytes);
  });

  test("of interim heads and chunks is read to its end", async () => {
    rig.receiver.answer = (socket) =>
      socket.write(
        "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
      );
    expect(String((await send()).body)).toBe("abc");
  });

  test("that ends with the connection is read to its end", async () => {
    rig.receiver.answer = (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nabc");
    expect(String((await send()).body)).toBe("abc");
  });

  test("of exactly 64 KB is whole", async () => {
    rig.receiver.answer = (socket) => socket.write(answerOf("a".repeat(65_536)));
    const { body, isCut } = await send();
    expect([body.length, isCut]).toEqual([65_536, false]);
    await send();
    expect(rig.receiver.sockets).toHaveLength(1);
  });

  test.each([
    ["with its length", (body: string) => answerOf(body)],
    [
      "in chunks",
      (b: string) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${b.length.toString(16)}\r\n${b}`,
    ],
    ["to the end of the connection", (body: string) => `HTTP/1.1 200 OK\r\n\r\n${body}`],
  ])("of 10 MB %s is cut at 64 KB, and the rest is not read", async (_, answer) => {
    rig.receiver.answer = (socket) => socket.write(answer("a".repeat(10_000_000)));
    const { status, body, isCut } = await send();
    expect([status, body.length, isCut]).toEqual([200, 65_536, true]);
    await until("no connection is open", () => rig.outbound.connections, equals(0));
    await until("the receiver's connection is gone", () => rig.receiver.sockets[0]?.destroyed);
  });

  test("before all of the request was read is an answer, and its connection is not used again", async () => {
    rig.receiver.answer = (socket) => {
      socket.pause();
      socket.write(answerOf("too large", "", "413 Content Too Large"));
    };
    expect((await send({ body: Buffer.alloc(50_000_000) })).status).toBe(413);
    await until("no connection is open", () => rig.outbound.connections, equals(0));
  });
});

describe("the time limit", () => {
  const drip = (text: string, first = "") => {
    rig.receiver.answer = (socket) => {
      socket.write(first);
      socket.once(
        "close",
        again(() => socket.write(text), 10),
      );
    };
  };

  test.each([
    ["there is no answer", () => drip("")],
    ["the status line drips", () => drip("", "HTTP/1.1 2")],
    ["headers drip", () => drip("a: b\r\n", "HTTP/1.1 200 OK\r\n")],
    ["interim answers drip", () => drip("HTTP/1.1 102 Processing\r\n\r\n")],
    ["the body drips", () => drip("a", "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")],
    ["chunks drip", () => drip("1\r\na\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")],
  ])("ends a call where %s", async (_, behave) => {
    behave();
    expect(await kindOf(send({ timeoutMs: 100 }))).toBe("timeout");
    await until("no connection is open", () => rig.outbound.connections, equals(0));
  });

  test("covers the look-up of the name", async () => {
    const slow = openTest({ resolve: () => new Promise(() => {}) });
    const url = "https://hooks.example.com/";
    expect(await kindOf(slow.send({ url, method: "POST", timeoutMs: 50 }))).toBe("timeout");
    slow.close();
  });

  test("covers the request, which nobody reads", async () => {
    rig.receiver.answer = (socket) => socket.pause();
    expect(await kindOf(send({ timeoutMs: 200, body: Buffer.alloc(50_000_000) }))).toBe("timeout");
    await until("no connection is open", () => rig.outbound.connections, equals(0));
  });
});

describe("a failure", () => {
  test("to connect is of class connect", async () => {
    const failure = await failureOf(send({ url: `http://127.0.0.1:${await closedPort()}/` }));
    expect([failure.kind, failure.message]).toEqual([
      "connect",
      "No connection could be made (ECONNREFUSED).",
    ]);
  });

  test.each([
    ["before the answer", ""],
    ["within the head", "HTTP/1.1 200 OK\r\nconte"],
    ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"],
    ["within a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc"],
  ])("of the connection %s is of class reset", async (_, text) => {
    rig.receiver.answer = (socket) =>
      text === "" ? socket.resetAndDestroy() : socket.write(text, () => socket.destroy());
    const failure = await failureOf(send({ repeatable: true }));
    expect([failure.kind, failure.message]).toEqual([
      "reset",
      "The connection was closed before the answer was complete.",
    ]);
    expect(rig.receiver.heads).toHaveLength(1);
  });

  test.each([
    ["is no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["has two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    [
      "has a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["has a head of 20 KB", `HTTP/1.1 200 OK\r\na: ${"b".repeat(20_000)}\r\n\r\n`],
    ["has a broken chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"],
  ])("of an answer that %s is of class protocol", async (_, text) => {
    rig.receiver.answer = (socket) => socket.write(text);
    const failure = await failureOf(send());
    expect([failure.kind, failure.message]).toEqual([
      "protocol",
      expect.stringMatching(/^The answer is not valid HTTP\/1\.1 \(HPE_[A-Z_]+\)\.$/),
    ]);
  });

  test("of a connection that is closed at once is never taken for one to another address", async () => {
    const closing = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => closing.once("listening", resolve));
    const url = `https://127.0.0.1:${(closing.address() as AddressInfo).port}/`;
    const kinds = await Promise.all(Array.from({ length: 60 }, () => kindOf(send({ url }))));
    // Which one depends on when the gateway notices.
    expect(kinds.filter((kind) => kind !== "connect" && kind !== "tls")).toEqual([]);
    closing.close();
  });

  test("is an upgrade that nobody asked for", async () => {
    rig.receiver.answer = (socket) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    expect(await kindOf(send())).toBe("reset");
    expect(rig.outbound.connections).toBe(0);
  });

  test("of one address leads to the next, and nothing is sent twice", async () => {
    const rules = rulesOf(["127.0.0.1/32", "::1/128"]);
    const resolve = () => Promise.resolve(["::1", "127.0.0.1"]);
    const secure = await startReceiver({ cert: CERTIFICATE, key: KEY });
    const named = openTest({ rules, resolve, ca: [AUTHORITY] });
    const request = { url: `https://hooks.example.test:${secure.port}/`, method: "POST", body: "{}" };
    expect((await named.send(request)).status).toBe(200);
    // From now on somebody listens at ::1, if that exists; the address that works is kept.
    const other = createServer((socket) => socket.destroy()).on("error", () => {});
    await new Promise((resolve) =>
      other.once("error", resolve).listen(secure.port, "::1", () => resolve(true)),
    );
    expect((await named.send(request)).status).toBe(200);
    expect([secure.sockets.length, secure.heads.length]).toEqual([1, 2]);
    named.close();
    other.close();
    await secure.close();
  });
});

describe("calls that wait for their turn", () => {
  test("are busy once too many wait, and when they have waited for their time", async () => {
    rig.outbound.close();
    rig.outbound = openTest({ maxCalls: 1, maxWaiting: 1 });
    rig.receiver.answer = () => {};
    const threeCalls = async () => {
      const arrived = rig.receiver.heads.length;
      let isOver = false;
      const first = kindOf(send({ timeoutMs: 300 })).finally(() => {
        isOver = true;
      });
      await until("the first has arrived, or is over", () => isOver || rig.receiver.heads.length > arrived);
      if (isOver) return undefined;
      const others = [kindOf(send({ timeoutMs: 50 })), kindOf(send())];
      return await Promise.all([first, ...others]);
    };
    // On a late machine the first may be over before the others come: then there are three more.
    const kinds = await until("two come while the first is under way", threeCalls);
    expect(kinds).toEqual(["timeout", "busy", "busy"]);
  });
});

describe("close", () => {
  test("fails what is under way, closes what is kept, and refuses what comes", async () => {
    await Promise.all([send(), send()]);
    rig.receiver.answer = () => {};
    const live = kindOf(send());
    await until("all three requests have arrived", () => rig.receiver.heads.length, equals(3));
    rig.outbound.close();
    expect(await live).toBe("closed");
    await until("no connection is open", () => rig.outbound.connections, equals(0));
    expect(await kindOf(send())).toBe("closed");
    rig.outbound.close();
  });

  test("fails a call that is still being looked up, connected or waiting", async () => {
    const names = openTest({ resolve: () => new Promise(() => {}), maxCalls: 1 });
    const url = "https://hooks.example.com/";
    const [looking, waiting] = [names.send({ url, method: "GET" }), names.send({ url, method: "GET" })].map(
      kindOf,
    );
    names.close();
    expect([await looking, await waiting]).toEqual(["closed", "closed"]);
    const connecting = kindOf(send());
    rig.outbound.close();
    expect(await connecting).toBe("closed");
  });
});
