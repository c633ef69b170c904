/** Providers behind proxies of Debian, called by the program as users run it: variables, files, and what they say of each other. */
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import { closedPort, events } from "../../../support/gateway.ts";
import { attemptsOf, recordOf, requestIdOf, start } from "../../../support/observations.ts";
import { CERTIFICATE } from "../../../support/proxy/certificate.ts";
import {
  missingProxies,
  PASSWORD,
  type RealProxy,
  startMicrosocks,
  startSquid,
  startTinyproxy,
  USER,
} from "../../../support/proxy/real-proxies.ts";
import { startTlsFront, type TlsFront } from "../../../support/proxy/tls-front.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { until } from "../../../support/wait.ts";

const reason = missingProxies();

describe.skipIf(reason !== undefined)("with squid, tinyproxy and microsocks", () => {
  let simulator: Simulator;
  let front: TlsFront;
  let proxies: RealProxy[] = [];
  let gateway: SpawnedGateway;
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  const trusted = join(tmpdir(), `weir-proxies-${process.pid}.pem`);

  beforeAll(async () => {
    writeFileSync(trusted, CERTIFICATE);
    simulator = await startSimulator({});
    front = await startTlsFront(simulator.url);
    const { port } = new URL(simulator.url);
    const [squid, tiny, socks] = await Promise.all([
      startSquid([front.port]),
      startTinyproxy(),
      startMicrosocks(),
    ]);
    proxies = [squid, tiny, socks];
    const at = (proxy: RealProxy, scheme = "http", password = PASSWORD) =>
      `${scheme}://${USER}:${password}@127.0.0.1:${proxy.port}`;
    const plain = (host: string) => `http://${host}:${port}/v1`;
    const secure = (host: string) => `https://${host}:${front.port}/v1`;
    const hung = `https://127.0.0.1:${(silent.address() as { port: number }).port}`;
    const endpoints = [
      // By the variables.
      { provider: "squid-plain", baseUrl: plain("provider.test") },
      { provider: "squid-tls", baseUrl: secure("provider.test") },
      { provider: "squid-denied", baseUrl: plain("denied.test") },
      { provider: "squid-denied-tls", baseUrl: secure("denied.test") },
      { provider: "squid-gone", baseUrl: `http://provider.test:${await closedPort()}/v1` },
      { provider: "squid-gone-tls", baseUrl: `https://provider.test:${await closedPort()}/v1` },
      { provider: "listed", baseUrl: plain("listed.localhost.test") },
      // By their own.
      { provider: "squid-wrong", baseUrl: plain("provider.test"), proxy: at(squid, "http", "wrong") },
      { provider: "squid-wrong-tls", baseUrl: secure("provider.test"), proxy: at(squid, "http", "wrong") },
      { provider: "tiny-plain", baseUrl: plain("localhost"), proxy: at(tiny) },
      { provider: "tiny-tls", baseUrl: secure("localhost"), proxy: at(tiny) },
      { provider: "tiny-wrong", baseUrl: plain("localhost"), proxy: at(tiny, "http", "wrong") },
      { provider: "tiny-gone", baseUrl: `http://localhost:${await closedPort()}/v1`, proxy: at(tiny) },
      { provider: "socks-plain", baseUrl: plain("localhost"), proxy: at(socks, "socks5h") },
      { provider: "socks-tls", baseUrl: secure("localhost"), proxy: at(socks, "socks5") },
      { provider: "socks-wrong", baseUrl: secure("localhost"), proxy: at(socks, "socks5", "wrong") },
      {
        provider: "socks-gone",
        baseUrl: `http://localhost:${await closedPort()}/v1`,
        proxy: at(socks, "socks5h"),
      },
      { provider: "hung", baseUrl: secure("provider.test"), proxy: hung },
      { provider: "healthy" },
    ];
    gateway = await spawnGateway({
      simulator,
      engine: false,
      endpoints,
      settings: { timeouts: { connect_ms: 3_000 } },
      env: {
        HTTP_PROXY: at(squid),
        HTTPS_PROXY: at(squid),
        NO_PROXY: ".localhost.test",
        NODE_EXTRA_CA_CERTS: trusted,
        LOG_LEVEL: "info",
      },
    });
  }, 300_000);
  afterAll(async () => {
    await gateway?.stop();
    silent.close();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await front?.close();
    await simulator?.close();
    rmSync(trusted, { force: true });
  });

  const only = (provider: string) => ({ svc: { route: { providers: { only: [provider] } } } });
  const ask = (provider: string, body: object = {}) =>
    gateway.chat({
      model: "test/model",
      messages: [{ role: "user", content: "Hello" }],
      ...only(provider),
      ...body,
    });

  test.each(["squid-plain", "squid-tls", "tiny-plain", "tiny-tls", "socks-plain", "socks-tls"])(
    "%s answers, whole and streamed, many at once",
    async (provider) => {
      for (let i = 0; i < 3; i += 1) expect((await ask(provider)).status).toBe(200);
      const streamed = await events(await start(gateway, { stream: true, ...only(provider) }));
      expect(streamed.at(-1)).toBe("[DONE]");
      const all = await Promise.all(Array.from({ length: 20 }, () => ask(provider)));
      expect(all.map(({ status }) => status)).toEqual(Array(20).fill(200));
    },
  );

  test("keeps tunnels open: a call after another needs no handshake", async () => {
    await ask("squid-tls");
    const before = front.connections;
    for (let i = 0; i < 5; i += 1) expect((await ask("squid-tls")).status).toBe(200);
    expect(front.connections).toBe(before);
  });

  test.each([
    ["squid-denied", "proxy_403"],
    ["squid-denied-tls", "proxy_403"],
    ["squid-gone", "proxy_503"],
    ["squid-gone-tls", "proxy_403"],
    ["squid-wrong", "proxy_407"],
    ["squid-wrong-tls", "proxy_407"],
    ["tiny-wrong", "proxy_401"],
    ["tiny-gone", "proxy_500"],
    ["socks-wrong", "proxy_socks_password_refused"],
    ["socks-gone", "proxy_socks_ConnectionRefused"],
    ["hung", "proxy_timeout"],
    ["listed", "ENOTFOUND"],
  ])("%s fails as a connection does, %s, and the next one answers", async (provider, code) => {
    const providers = { order: [provider, "healthy"] };
    const answer = await ask(provider, { svc: { route: { providers } } });
    expect(answer.status).toBe(200);
    const record = await recordOf(gateway, requestIdOf(answer));
    expect(attemptsOf(record)).toEqual(["connect_error 0 network", "ok 200"]);
    const line = await until(
      "the failure is logged",
      () =>
        gateway
          .output()
          .split("\n")
          .find((text) => text.includes(requestIdOf(answer))),
      (text) => text !== undefined,
    );
    const told = JSON.parse(line ?? "{}").code;
    expect(code === "ENOTFOUND" ? told.replace("EAI_AGAIN", code) : told).toBe(code);
  });

  test("T61: nothing that is printed or answered has a password", async () => {
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    const printed = `${gateway.output()}${text}`;
    expect(printed).not.toContain(PASSWORD);
    expect(printed).not.toContain(Buffer.from(`${USER}:${PASSWORD}`).toString("base64"));
  });
});

test.skipIf(reason === undefined)("proxies of Debian can be had", ({ skip }) => skip(reason));
