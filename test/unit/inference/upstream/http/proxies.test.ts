/** Connections by proxies: what a proxy is asked and told, what of it is believed, and how it fails. */
import { createServer, type Server, type Socket } from "node:net";
import tls, { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { readProxyAddress } from "../../../../../src/base/network/proxy-address.ts";
import { ConnectionPool } from "../../../../../src/inference/upstream/http/pool.ts";
import { closedPort } from "../../../../support/gateway.ts";
import { CERTIFICATE, KEY } from "../../../../support/proxy/certificate.ts";
import {
  type ForwardProxy,
  type ProxyOptions,
  startForwardProxy,
} from "../../../../support/proxy/forward-proxy.ts";
import { type SocksProxy, startSocksProxy } from "../../../../support/proxy/socks-proxy.ts";
import { equals, until } from "../../../../support/wait.ts";
import { answerOf, type Call, send } from "./raw-provider.ts";

interface Provider {
  readonly port: number;
  /** Heads and bodies of requests, as they came. */
  readonly heard: string[];
  readonly sockets: Socket[];
  /** Whether each connection has resumed the session of another one. */
  readonly resumed: boolean[];
  answer: string;
  close(): Promise<void>;
}

const listening = async (server: Server, host?: string): Promise<number> => {
  await new Promise((resolve) => server.listen(0, host ?? "127.0.0.1", () => resolve(undefined)));
  return (server.address() as { port: number }).port;
};

async function startProvider(isTls: boolean, host?: string): Promise<Provider> {
  const onSocket = (socket: Socket) => {
    provider.sockets.push(socket);
    if ("isSessionReused" in socket) provider.resumed.push((socket as TLSSocket).isSessionReused());
    socket
      .on("error", () => {})
      .on("data", (data) => {
        provider.heard.push(data.toString("latin1"));
        socket.write(provider.answer);
      });
  };
  const server = isTls ? createTlsServer({ cert: CERTIFICATE, key: KEY }, onSocket) : createServer(onSocket);
  server.on("tlsClientError", () => {});
  const port = await listening(server, host);
  const provider: Provider = {
    port,
    heard: [],
    sockets: [],
    resumed: [],
    answer: answerOf("a"),
    async close() {
      for (const socket of provider.sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

let open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  const closing = open.reverse();
  open = [];
  for (const one of closing) await one.close();
});

const opened = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};

const proxied = async (options?: ProxyOptions): Promise<ForwardProxy> =>
  opened(await startForwardProxy(options));

/** Its close waits for calls under way: none is, at the end of a test. */
const pooled = (origin: string, proxy: string, connectTimeoutMs = 20_000): ConnectionPool =>
  opened(new ConnectionPool(origin, connectTimeoutMs, systemClock, readProxyAddress(proxy)));

async function done(call: Call): Promise<readonly string[]> {
  await call.done;
  return call.heard;
}

const WELL = ["sent", "200", '"a"', "end"];

describe("a request that a proxy passes on", () => {
  let provider: Provider;
  beforeEach(async () => {
    provider = opened(await startProvider(false));
  });

  test("names the whole URL, and is signed in for at the proxy alone", async () => {
    const proxy = await proxied({ signIn: "me@corp:p:a" });
    const pool = pooled(`http://provider.test:${provider.port}`, `http://me%40corp:p%3Aa@${proxy.authority}`);
    for (let i = 0; i < 3; i += 1) expect(await done(send(pool))).toEqual(WELL);
    expect(proxy.asked).toEqual(Array(3).fill(`POST http://provider.test:${provider.port}/`));
    expect(proxy.connections.all).toBe(1);
    expect(provider.heard.join("")).toMatch(/^POST \/ HTTP\/1\.1\r\nhost: provider\.test:\d+\r\n/i);
    expect(provider.heard.join("")).not.toMatch(/proxy-authorization/i);
  });

  test("goes over TLS to a proxy that is spoken to so, whose certificate counts", async () => {
    const proxy = await proxied({ isTls: true });
    const pool = pooled(`http://provider.test:${provider.port}`, proxy.url);
    expect(await done(send(pool))).toEqual(["proxy_DEPTH_ZERO_SELF_SIGNED_CERT"]);
    expect(proxy.asked).toEqual([]);
  });

  test("finds a proxy with an address of IPv6", async () => {
    const proxy = await proxied({ host: "::1" });
    expect(await done(send(pooled(`http://provider.test:${provider.port}`, proxy.url)))).toEqual(WELL);
  });

  test.each<readonly [head: string, heard: readonly string[]]>([
    ["HTTP/1.1 407 Sign in\r\nproxy-authenticate: Basic", ["proxy_407"]],
    ["HTTP/1.1 403 Forbidden\r\nX-Squid-Error: ERR_ACCESS_DENIED 0", ["proxy_403"]],
    ["HTTP/1.1 503 Unavailable\r\nx-squid-error: ERR_CONNECT_FAIL 111", ["proxy_503"]],
    ["HTTP/1.1 504 Timeout\r\nx-squid-error: ERR_READ_TIMEOUT 0", ["proxy_504"]],
    ["HTTP/1.0 500 Unable to connect\r\nServer: tinyproxy/1.11.1", ["proxy_500"]],
    ["HTTP/1.1 503 Unavailable\r\nserver: gunicorn\r\nvia: 1.1 proxy.test (squid)", ["503", '"a"', "end"]],
    ["HTTP/1.1 403 Forbidden\r\nserver: nginx", ["403", '"a"', "end"]],
    ["HTTP/1.1 200 OK\r\nx-squid-error: ERR_CONNECT_FAIL 111\r\nserver: tinyproxy/1", ["200", '"a"', "end"]],
  ])("is answered by the proxy itself where it says so: %j", async (head, heard) => {
    const proxy = await proxied();
    proxy.act = (socket) => socket.end(`${head}\r\ncontent-length: 1\r\n\r\na`);
    expect(await done(send(pooled("http://provider.test", proxy.url)))).toEqual(["sent", ...heard]);
  });
});

test("a refusal of a provider that is called directly is the provider's, whatever it says", async () => {
  const provider = opened(await startProvider(false));
  provider.answer = "HTTP/1.1 407 x\r\nx-squid-error: ERR_CONNECT_FAIL 0\r\ncontent-length: 1\r\n\r\na";
  const pool = opened(new ConnectionPool(`http://127.0.0.1:${provider.port}`, 20_000, systemClock));
  expect(await done(send(pool))).toEqual(["sent", "407", '"a"', "end"]);
});

// Only newer versions of Node can be told whom to trust.
describe.skipIf(!("setDefaultCACertificates" in tls))("a tunnel", () => {
  let trusted: string[];
  let provider: Provider;
  let proxy: ForwardProxy;
  beforeAll(() => {
    trusted = tls.getCACertificates("default");
    tls.setDefaultCACertificates([CERTIFICATE]);
  });
  afterAll(() => tls.setDefaultCACertificates(trusted));
  beforeEach(async () => {
    provider = opened(await startProvider(true));
    proxy = await proxied();
  });
  const origin = (host = "provider.test") => `https://${host}:${provider.port}`;

  test("carries call after call, and nothing of it is the proxy's to see", async () => {
    const pool = pooled(origin(), proxy.url);
    for (let i = 0; i < 3; i += 1) expect(await done(send(pool))).toEqual(WELL);
    expect([proxy.asked, proxy.connections.all]).toEqual([[`CONNECT provider.test:${provider.port}`], 1]);
    expect((provider.sockets[0] as TLSSocket).servername).toBe("provider.test");
    expect(provider.heard.join("")).not.toMatch(/proxy/i);
  });

  test("is for one call at a time, whatever their number", async () => {
    const pool = pooled(origin(), proxy.url);
    const calls = Array.from({ length: 50 }, () => send(pool));
    for (const call of calls) expect(await done(call)).toEqual(WELL);
    expect([proxy.connections.all, pool.connections]).toEqual([50, 50]);
    expect(await done(send(pool))).toEqual(WELL);
    expect(proxy.connections.all).toBe(50);
  });

  test("leads to the provider of the certificate, and to no other", async () => {
    expect(await done(send(pooled(origin("other.test"), proxy.url)))).toEqual([
      "ERR_TLS_CERT_ALTNAME_INVALID",
    ]);
    expect(provider.heard).toEqual([]);
  });

  test("resumes the session of the one before, at the proxy too", async () => {
    const overTls = await proxied({ isTls: true });
    for (const url of [proxy.url, overTls.url]) {
      provider.answer = answerOf("a", "connection: close\r\n");
      const pool = pooled(origin(), url);
      for (let i = 0; i < 2; i += 1) expect(await done(send(pool))).toEqual(WELL);
    }
    expect(provider.resumed).toEqual([false, true, false, true]);
  });

  test("goes through a proxy that is itself spoken to over TLS, with a password", async () => {
    const overTls = await proxied({ isTls: true, signIn: "me:secret" });
    const pool = pooled(origin(), `https://me:secret@${overTls.authority}`);
    for (let i = 0; i < 2; i += 1) expect(await done(send(pool))).toEqual(WELL);
    expect(overTls.asked).toEqual([`CONNECT provider.test:${provider.port}`]);
  });

  test("leads to an address of IPv6, which is written in brackets", async () => {
    const sixth = opened(await startProvider(true, "::1"));
    const heard = await done(send(pooled(`https://[::1]:${sixth.port}`, proxy.url)));
    // The certificate has names only: it is the provider's own that is looked at.
    expect([heard, proxy.asked]).toEqual([["ERR_TLS_CERT_ALTNAME_INVALID"], [`CONNECT [::1]:${sixth.port}`]]);
  });

  test.each([
    ["HTTP/1.0 200\r\n\r\n"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\nx: y\r\n\r\n"],
  ])("is opened by %j, which has no body whatever it says", async (opening) => {
    proxy.opening = opening;
    expect(await done(send(pooled(origin(), proxy.url)))).toEqual(WELL);
  });

  test("is opened by an answer that comes byte by byte", async () => {
    proxy.isSlow = true;
    expect(await done(send(pooled(origin(), proxy.url)))).toEqual(WELL);
  });

  test("gives what comes behind the proxy's answer to TLS, which refuses what is none", async () => {
    proxy.opening = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    const [code, ...more] = await done(send(pooled(origin(), proxy.url)));
    expect([code?.startsWith("ERR_SSL_"), more]).toEqual([true, []]);
    expect(provider.heard).toEqual([]);
  });

  test.each<readonly [what: string, code: string, bytes: string]>([
    ["asks for a password", "proxy_407", "HTTP/1.1 407 x\r\nproxy-authenticate: Basic\r\n\r\n"],
    ["refuses", "proxy_403", "HTTP/1.1 403 Forbidden\r\ncontent-length: 3\r\n\r\nno!"],
    ["finds no provider", "proxy_502", "HTTP/1.0 502 Bad gateway\r\n\r\n<html>"],
    ["switches protocols", "proxy_101", "HTTP/1.1 101 x\r\n\r\n"],
    ["redirects", "proxy_302", "HTTP/1.1 302 x\r\nlocation: http://evil.test/\r\n\r\n"],
    ["writes garbage", "proxy_invalid_answer", `${"\0garbage".repeat(10)}\r\n\r\n`],
    ["speaks of an SSH server", "proxy_invalid_answer", "SSH-2.0-OpenSSH_9.2\r\n"],
    [
      "writes a head without an end",
      "proxy_head_too_large",
      `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(4_000)}`,
    ],
    ["writes a huge head", "proxy_head_too_large", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
    ["writes many heads", "proxy_head_too_large", "HTTP/1.1 100 x\r\n\r\n".repeat(4_000)],
    ["ends within the head", "proxy_connection_closed", "HTTP/1.1 200 OK\r\nx: y"],
    ["says nothing and ends", "proxy_connection_closed", ""],
  ])("that a proxy does not open, because it %s, is %s", async (_, code, bytes) => {
    proxy.act = (socket) => socket.end(bytes, "latin1");
    const pool = pooled(origin(), proxy.url);
    expect(await done(send(pool))).toEqual([code]);
    await until("no connection is open", () => [pool.connections, proxy.connections.open], equals([0, 0]));
    expect(provider.heard).toEqual([]);
  });

  test("that is reset before it is open fails as one of the proxy", async () => {
    proxy.act = (socket) => socket.resetAndDestroy();
    expect(await done(send(pooled(origin(), proxy.url)))).toEqual([
      expect.stringMatching(/^proxy_(?:ECONNRESET|connection_closed)$/),
    ]);
  });

  test.each([
    ["the proxy says nothing", "proxy_timeout", () => {}],
    [
      "the provider says nothing",
      "connect_timeout",
      (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\n\r\n"),
    ],
  ] as const)("hangs no longer than one connection may take, where %s", async (_, code, act) => {
    proxy.act = act;
    expect(await done(send(pooled(origin(), proxy.url, 50)))).toEqual([code]);
    await until("the proxy's socket is closed", () => proxy.connections.open, equals(0));
  });

  test("to a proxy that is not there is refused", async () => {
    const pool = pooled(origin(), `http://127.0.0.1:${await closedPort()}`);
    expect(await done(send(pool))).toEqual(["proxy_ECONNREFUSED"]);
  });

  test("closes at the proxy with a call that is given up", async () => {
    provider.answer = "HTTP/1.1 200 OK\r\n\r\nfirst";
    const pool = pooled(origin(), proxy.url);
    const call = send(pool, { onData: ({ connection }) => connection?.abort() });
    await until(
      "the proxy's socket is closed",
      () => [call.heard.at(-1), proxy.connections.open],
      equals(['"first"', 0]),
    );
    expect(pool.connections).toBe(0);
  });

  test("that the proxy closes while it is idle loses no call", async () => {
    const pool = pooled(origin(), proxy.url);
    expect(await done(send(pool))).toEqual(WELL);
    for (const socket of provider.sockets) socket.destroy();
    await until("the tunnel is closed", () => pool.connections, equals(0));
    expect(await done(send(pool))).toEqual(WELL);
    expect(proxy.connections.all).toBe(2);
  });
});

describe("SOCKS", () => {
  let provider: Provider;
  let proxy: SocksProxy;
  beforeEach(async () => {
    provider = opened(await startProvider(false));
    proxy = opened(await startSocksProxy());
  });
  const origin = (host: string) => `http://${host}:${provider.port}`;

  test.each([
    ["socks5h", "provider.test", "name provider.test"],
    ["socks5h", "127.0.0.1", "address 127.0.0.1"],
    ["socks5", "127.0.0.1", "address 127.0.0.1"],
    ["socks5", "localhost", "address (?:127.0.0.1|::1)"],
  ])("%s has %s looked up where it should be", async (scheme, host, asked) => {
    const pool = pooled(origin(host), `${scheme}://${proxy.authority}`);
    const heard = await done(send(pool));
    if (!asked.includes("::1")) expect(heard).toEqual(WELL);
    expect(proxy.asked.join()).toMatch(new RegExp(`^${asked}:${provider.port}$`));
  });

  test("carries call after call", async () => {
    const pool = pooled(origin("provider.test"), `socks5h://${proxy.authority}`);
    for (let i = 0; i < 3; i += 1) expect(await done(send(pool))).toEqual(WELL);
    expect([proxy.asked.length, provider.sockets.length]).toEqual([1, 1]);
  });

  test("signs in", async () => {
    const asking = opened(await startSocksProxy("me@corp:p:ä"));
    const pool = pooled(origin("provider.test"), `socks5h://me%40corp:p%3Aä@${asking.authority}`);
    expect(await done(send(pool))).toEqual(WELL);
    const wrong = pooled(origin("provider.test"), `socks5h://me:wrong@${asking.authority}`);
    expect(await done(send(wrong))).toEqual(["proxy_socks_password_refused"]);
    const none = pooled(origin("provider.test"), `socks5h://${asking.authority}`);
    expect(await done(send(none))).toEqual(["proxy_socks_password_needed"]);
  });

  test.each([
    [1, "proxy_socks_Failure"],
    [2, "proxy_socks_NotAllowed"],
    [4, "proxy_socks_HostUnreachable"],
    [5, "proxy_socks_ConnectionRefused"],
    [99, "proxy_socks_undefined"],
  ])("reply %s fails as one of the proxy", async (reply, code) => {
    proxy.reply = reply;
    const pool = pooled(origin("provider.test"), `socks5h://${proxy.authority}`);
    expect(await done(send(pool))).toEqual([code]);
    await until("no connection is open", () => pool.connections, equals(0));
  });

  test("garbage, and words behind the reply, fail as those of the proxy", async () => {
    const pool = pooled(origin("provider.test"), `socks5h://${proxy.authority}`);
    proxy.behind = answerOf("evil");
    expect(await done(send(pool))).toEqual(["proxy_invalid_answer"]);
    proxy.garbage = "HTTP/1.1 400 Bad request\r\n\r\n";
    expect(await done(send(pool))).toEqual(["proxy_invalid_answer"]);
    proxy.garbage = "";
    expect(await done(send(pooled(origin("provider.test"), `socks5h://${proxy.authority}`, 50)))).toEqual([
      "proxy_timeout",
    ]);
    expect(provider.heard).toEqual([]);
  });

  test("a name that is unknown here is the provider's fault", async () => {
    const pool = pooled("http://unknown.invalid", `socks5://${proxy.authority}`);
    expect(await done(send(pool))).toEqual([expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/)]);
  });
});

describe.skipIf(!("setDefaultCACertificates" in tls))("SOCKS with TLS", () => {
  let trusted: string[];
  beforeAll(() => {
    trusted = tls.getCACertificates("default");
    tls.setDefaultCACertificates([CERTIFICATE]);
  });
  afterAll(() => tls.setDefaultCACertificates(trusted));

  test("carries call after call, by the provider's certificate", async () => {
    const provider = opened(await startProvider(true));
    const proxy = opened(await startSocksProxy());
    const pool = pooled(`https://provider.test:${provider.port}`, `socks5h://${proxy.authority}`);
    for (let i = 0; i < 3; i += 1) expect(await done(send(pool))).toEqual(WELL);
    expect([proxy.asked, provider.sockets.length]).toEqual([[`name provider.test:${provider.port}`], 1]);
    const other = pooled(`https://other.test:${provider.port}`, `socks5h://${proxy.authority}`);
    expect(await done(send(other))).toEqual(["ERR_TLS_CERT_ALTNAME_INVALID"]);
  });
});
