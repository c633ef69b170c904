/** Calls over TLS: whose certificate is believed, for which name, and that environment and address change nothing of it. */
import { createServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemTimers } from "../../../src/base/clock.ts";
import { readAddress } from "../../../src/outbound/address.ts";
import { CheckedAgent } from "../../../src/outbound/agent.ts";
import { attempt } from "../../../src/outbound/attempt.ts";
import type { Outbound } from "../../../src/outbound/send.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "../../support/outbound/certificates.ts";
import {
  answerOf,
  failureOf,
  kindOf,
  openTest,
  type Receiver,
  startReceiver,
} from "../../support/outbound/fixtures.ts";
import {
  CERTIFICATE as SELF_SIGNED,
  KEY as SELF_SIGNED_KEY,
} from "../inference/upstream/http/certificate.ts";

let receiver: Receiver;
let outbound: Outbound;
beforeEach(async () => {
  receiver = await startReceiver({ cert: CERTIFICATE, key: KEY, ALPNProtocols: ["h2", "http/1.1"] });
  outbound = openTest({ ca: [AUTHORITY], resolve: () => Promise.resolve(["127.0.0.1"]) });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  outbound.close();
  await receiver.close();
});

const send = (host = "hooks.example.test", timeoutMs = 5_000) =>
  outbound.send({
    url: `https://${host}:${receiver.port}/`,
    method: "POST",
    body: "{}",
    timeoutMs,
    repeatable: true,
  });

const socketAt = (index: number) => receiver.sockets[index] as TLSSocket;

test("a name is called with its SNI and Host, whatever address it has", async () => {
  expect((await send()).status).toBe(200);
  expect(socketAt(0).servername).toBe("hooks.example.test");
  expect(socketAt(0).alpnProtocol).toBe("http/1.1");
  expect(receiver.heads[0]).toContain(`\r\nhost: hooks.example.test:${receiver.port}\r\n`);
});

test("a name is called without the dot at its end", async () => {
  expect((await send("hooks.example.test.")).status).toBe(200);
  expect(socketAt(0).servername).toBe("hooks.example.test");
});

test("an address is called without SNI, and must be in the certificate", async () => {
  expect((await send("127.0.0.1")).status).toBe(200);
  expect(socketAt(0).servername).toBe(false);
  expect((await send("[::ffff:127.0.0.1]")).status).toBe(200);
});

describe("a certificate is refused before anything is sent", () => {
  const refused = async (host?: string) => {
    const failure = await failureOf(send(host));
    expect(failure.kind).toBe("tls");
    expect(receiver.heads).toEqual([]);
    return failure.message;
  };

  test("if nobody has signed it", async () => {
    await receiver.close();
    receiver = await startReceiver({ cert: SELF_SIGNED, key: SELF_SIGNED_KEY });
    const message = "No secure connection could be made (DEPTH_ZERO_SELF_SIGNED_CERT).";
    expect(await refused("localhost")).toBe(message);
  });

  test("if an authority has signed it that is not trusted", async () => {
    outbound.close();
    outbound = openTest({ resolve: () => Promise.resolve(["127.0.0.1"]) });
    expect(await refused()).toContain("(UNABLE_TO_VERIFY_LEAF_SIGNATURE)");
  });

  test("if it is for another name", async () => {
    expect(await refused("other.example.test")).toBe(
      "No secure connection could be made (ERR_TLS_CERT_ALTNAME_INVALID).",
    );
  });

  test("whatever the environment says", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    await refused("other.example.test");
  });
});

describe("what is no handshake is of class tls", () => {
  const against = async (answer: (socket: Socket) => void, timeoutMs = 5_000) => {
    const server = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => answer(socket));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const kind = await kindOf(
      outbound.send({
        url: `https://hooks.example.test:${port}/`,
        method: "POST",
        timeoutMs,
        repeatable: true,
      }),
    );
    server.close();
    return kind;
  };

  test.each([
    ["plain HTTP", (socket: Socket) => socket.write(answerOf("ok"))],
    ["a closed connection", (socket: Socket) => socket.end()],
    ["a reset connection", (socket: Socket) => socket.resetAndDestroy()],
  ])("%s", async (_, answer) => {
    expect(await against(answer)).toBe("tls");
  });

  test("but silence is of class timeout", async () => {
    expect(await against(() => {}, 100)).toBe("timeout");
  });

  test("TLS 1.1", async () => {
    await receiver.close();
    receiver = await startReceiver({
      cert: CERTIFICATE,
      key: KEY,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
    });
    expect(await kindOf(send())).toBe("tls");
  });
});

describe("connections", () => {
  test("are kept for the next call", async () => {
    for (let i = 0; i < 3; i += 1) await send();
    expect(receiver.sockets).toHaveLength(1);
  });

  test.each([
    ["ends", () => socketAt(0).end()],
    ["destroys", () => socketAt(0).destroy()],
  ])("that the receiver %s just as the next request comes are replaced", async (_, close) => {
    await send();
    receiver.answer = (socket) => {
      if (socket === receiver.sockets[0]) close();
      else socket.write(answerOf("new"));
    };
    expect(String((await send()).body)).toBe("new");
    expect([receiver.sockets.length, receiver.heads.length]).toEqual([2, 3]);
  });
});

test("a connection to another address than the one that was checked is closed before anything is sent", async () => {
  const agent = new CheckedAgent({ timers: systemTimers, ca: [AUTHORITY], maxIdle: 1, idleMs: 1_000 });
  const checked = readAddress("93.184.215.14");
  if (checked === undefined) throw new Error("this is an address");
  for (const serverName of [undefined, "hooks.example.test"]) {
    const plain = serverName === undefined ? await startReceiver() : receiver;
    const dial = {
      origin: "https://hooks.example.test",
      port: plain.port,
      serverName,
      connectMs: undefined,
      // As if Node had taken the text for something else.
      address: { ...checked, text: "localhost" },
      isAllowed: () => true,
      phase: "connecting" as const,
    };
    const request = { method: "POST", path: "/", headers: ["host", "a"], body: Buffer.from("{}") };
    const outcome = await attempt(agent, dial, request, new AbortController().signal);
    expect(outcome).toMatchObject({ failure: { kind: "refused_address" } });
    expect(plain.heads).toEqual([]);
    if (plain !== receiver) await plain.close();
  }
  agent.destroy();
});
