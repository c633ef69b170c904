/** Connections over TLS: who is believed to be the provider, and that sessions are resumed. */
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import tls, { createServer, type Server, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CERTIFICATE, KEY } from "./certificate.ts";
import { answerOf, poolOf, send } from "./raw-provider.ts";

let server: Server;
let sockets: TLSSocket[];
/** Whether each connection has resumed the session of another one. */
let resumed: boolean[];
/** What the provider writes for each request. */
let answers: readonly string[];

beforeEach(async () => {
  sockets = [];
  resumed = [];
  answers = [answerOf("a")];
  server = createServer({ cert: CERTIFICATE, key: KEY, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
    sockets.push(socket);
    resumed.push(socket.isSessionReused());
    socket.on("error", () => {});
    socket.on("data", () => {
      for (const answer of answers) socket.write(answer);
    });
  });
  server.on("tlsClientError", () => {});
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const originOf = (host: string) => `https://${host}:${(server.address() as AddressInfo).port}`;
const WELL = ["sent", "200", '"a"', "end"];

async function heardFrom(host: string): Promise<readonly string[]> {
  const pool = poolOf(originOf(host));
  const call = send(pool);
  await call.done;
  await pool.close();
  return call.heard;
}

test("a certificate that nobody trusts is refused before anything is sent", async () => {
  expect(await heardFrom("localhost")).toEqual(["DEPTH_ZERO_SELF_SIGNED_CERT"]);
});

// Only newer versions of Node can be told whom to trust.
describe.skipIf(!("setDefaultCACertificates" in tls))("with a trusted certificate", () => {
  let trusted: string[];
  beforeAll(() => {
    trusted = tls.getCACertificates("default");
    tls.setDefaultCACertificates([CERTIFICATE]);
  });
  afterAll(() => tls.setDefaultCACertificates(trusted));

  test("its host is called, in HTTP/1.1", async () => {
    expect(await heardFrom("localhost")).toEqual(WELL);
    expect(sockets.map((socket) => [socket.servername, socket.alpnProtocol])).toEqual([
      ["localhost", "http/1.1"],
    ]);
  });

  test("another host is refused before anything is sent", async () => {
    expect(await heardFrom("127.0.0.1")).toEqual(["ERR_TLS_CERT_ALTNAME_INVALID"]);
  });

  test("the next connection resumes the session", async () => {
    const pool = poolOf(originOf("localhost"));
    answers = [answerOf("a", "connection: close\r\n")];
    for (let i = 0; i < 2; i += 1) {
      const call = send(pool);
      await call.done;
      expect(call.heard).toEqual(WELL);
    }
    expect(resumed).toEqual([false, true]);
    await pool.close();
  });

  test("an answer of several records is read, and what comes behind it is not taken for the next one", async () => {
    const pool = poolOf(originOf("localhost"));
    answers = ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", "a", "b", answerOf("evil")];
    for (let i = 0; i < 2; i += 1) {
      const call = send(pool);
      await call.done;
      expect([call.heard[1], call.heard.slice(2, -1).join("").replaceAll('"', "")]).toEqual(["200", "ab"]);
      while (pool.connections > 0) await turn();
    }
    expect(sockets).toHaveLength(2);
    await pool.close();
  });
});
