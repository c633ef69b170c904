/**
 * Calls to providers by outbound proxies, through a whole gateway: which proxy, what goes through it, how its failures end, and that its
 * credentials are nowhere (T61).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { readConfig } from "../../../../src/host/settings/config.ts";
import { events, type GatewayOptions, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { atRest, attemptsOf, recordOf, requestIdOf, start } from "../../../support/observations.ts";
import { CERTIFICATE } from "../../../support/proxy/certificate.ts";
import { type ForwardProxy, startForwardProxy } from "../../../support/proxy/forward-proxy.ts";
import { type SocksProxy, startSocksProxy } from "../../../support/proxy/socks-proxy.ts";
import { startTlsFront, type TlsFront } from "../../../support/proxy/tls-front.ts";
import { startProvider, type TestProvider } from "../../../support/upstream/fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

const SIGN_IN = "me:s3cret-of-proxy";
/** The password, and both as they are sent. */
const SECRETS = ["s3cret-of-proxy", Buffer.from(SIGN_IN).toString("base64")];

let provider: TestProvider;
let proxy: ForwardProxy;
beforeAll(async () => {
  proxy = await startForwardProxy({ signIn: SIGN_IN });
  provider = await startProvider();
});
afterAll(() => Promise.all([proxy.close(), provider.close()]));

let gateway: TestGateway;
afterEach(() => gateway.stop());
beforeEach(() => {
  proxy.asked.length = 0;
  proxy.act = undefined;
  provider.asked.length = 0;
  provider.answer = (_, response) => response.end(JSON.stringify(COMPLETION));
});

const COMPLETION = {
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const portOf = (url: string): string => new URL(url).port;
const named = (): string => `http://provider.test:${portOf(provider.url)}`;
const withPassword = (): string => `http://${SIGN_IN}@${proxy.authority}`;

const opened = async (options: GatewayOptions): Promise<TestGateway> => {
  gateway = await testGateway(options);
  return gateway;
};

const ask = (body: object = {}) =>
  gateway.chat({ model: "test/model", messages: [{ role: "user", content: "Hello" }], ...body });

/** As files of the configuration name it. */
const variable = (name: string): string => `\${${name}}`;

const inOrder = (...order: string[]) => ({ svc: { route: { providers: { order } } } });

describe("the proxy of the environment", () => {
  test("is asked for providers elsewhere, with its password, and for nothing on this machine", async () => {
    const env = { http_proxy: withPassword(), HTTP_PROXY: "http://127.0.0.1:1" };
    await opened({ env, endpoints: [{ provider: "remote", baseUrl: `${named()}/v1` }] });
    const before = proxy.connections.all;
    for (let i = 0; i < 3; i += 1) expect((await ask()).status).toBe(200);
    expect(proxy.asked).toEqual(Array(3).fill(`POST ${named()}/v1/chat/completions`));
    expect(proxy.connections.all - before).toBe(1);
    expect(provider.asked[0]?.headers).toMatchObject({ host: new URL(named()).host });
    expect(provider.asked[0]?.headers).not.toHaveProperty("proxy-authorization");
    expect((await gateway.chat()).status).toBe(200);
    expect(proxy.asked).toHaveLength(3);
  });

  test("is gone around for what NO_PROXY lists, and for a provider that says so", async () => {
    const baseUrl = `http://127.0.0.1:${portOf(provider.url)}/v1`;
    const elsewhere = `http://other.test:${portOf(provider.url)}/v1`;
    await opened({
      env: { ALL_PROXY: withPassword(), NO_PROXY: ".internal, listed.test" },
      endpoints: [
        { provider: "here", baseUrl },
        { provider: "direct", baseUrl: elsewhere, proxy: "direct" },
        { provider: "none", baseUrl: elsewhere, proxy: "none" },
        { provider: "listed", baseUrl: `http://a.listed.test:${portOf(provider.url)}/v1` },
        { provider: "asked", baseUrl: elsewhere },
      ],
    });
    for (const name of ["here", "direct", "none", "listed"]) {
      const { status } = await ask({ svc: { route: { providers: { only: [name] } } } });
      // Only the proxy knows those names.
      expect([name, status]).toEqual([name, name === "here" ? 200 : 502]);
    }
    expect(proxy.asked).toEqual([]);
    expect((await ask({ svc: { route: { providers: { only: ["asked"] } } } })).status).toBe(200);
    expect(proxy.asked).toEqual([`POST ${elsewhere}/chat/completions`]);
  });

  test.each([
    ["HTTP_PROXY", "ftp://me:s3cret@proxy.test"],
    ["https_proxy", "http://me:s3cret#x@proxy.test"],
    ["ALL_PROXY", "socks4://me:s3cret@proxy.test"],
  ])("%s that cannot be used is refused by its name, and not repeated", async (name, url) => {
    await opened({});
    const read = () => readConfig({ CONFIG_DIR: join(gateway.folder, "config"), [name]: url });
    expect(read).toThrow(new RegExp(`^${name}: (?:(?!s3cret).)*$`));
  });
});

describe("a provider's own proxy", () => {
  test("counts before the environment's, for this machine too, and may be a variable", async () => {
    const env = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "*" };
    process.env.PROXY_OF_TEST = withPassword();
    try {
      await opened({
        env,
        endpoints: [{ provider: "own", baseUrl: `${provider.url}/v1`, proxy: variable("PROXY_OF_TEST") }],
      });
    } finally {
      delete process.env.PROXY_OF_TEST;
    }
    expect((await ask()).status).toBe(200);
    expect(proxy.asked).toEqual([`POST ${provider.url}/v1/chat/completions`]);
  });

  test("is asked for counts too", async () => {
    provider.answer = (_, response) => response.end('{"input_tokens":7}');
    const own = { provider: "own", baseUrl: `${named()}/v1`, proxy: withPassword(), dialects: ["messages"] };
    await opened({ endpoints: [own] });
    const body = { model: "test/model", messages: [{ role: "user", content: "Hello" }] };
    const { status, json } = await gateway.call("POST", "/v1/messages/count_tokens", { body });
    expect([status, json.input_tokens]).toEqual([200, 7]);
    expect(proxy.asked).toEqual([`POST ${named()}/v1/messages/count_tokens`]);
  });

  test("that is not set leaves the provider unused: it is not called directly", async () => {
    const proxied = {
      provider: "own",
      baseUrl: `${provider.url}/v1`,
      proxy: variable("PROXY_THAT_IS_NOT_SET"),
    };
    await opened({ endpoints: [proxied] });
    expect((await ask()).status).toBe(404);
    expect(provider.asked).toEqual([]);
  });

  test("that cannot be used is refused with its place, and the last good one stays in force", async () => {
    const log: string[] = [];
    await opened({ log, endpoints: [{ provider: "own", baseUrl: `${named()}/v1`, proxy: withPassword() }] });
    const file = join(gateway.folder, "config/providers.yaml");
    const written = parse(readFileSync(file, "utf8"));
    const put = (url: string) => {
      written.providers.at(-1).proxy = url;
      writeFileSync(file, stringify(written));
      return gateway.reload();
    };
    await put("ftp://me:s3cret-of-proxy@proxy.test");
    expect(log.join("")).toMatch(/providers\.yaml:\d+:\d+.*\/providers\/\d+\/proxy.*must be an http, https/);
    expect((await ask()).status).toBe(200);
    const other = await startForwardProxy();
    await put(other.url);
    expect((await ask()).status).toBe(200);
    expect([proxy.asked.length, other.asked.length]).toEqual([1, 1]);
    await other.close();
    for (const secret of SECRETS) expect(log.join("")).not.toContain(secret);
  });
});

interface Failing {
  readonly scheme: "http" | "https";
  /** What it does with a tunnel. */
  readonly act?: ForwardProxy["act"];
  /** Its address; with the right password unless told. */
  readonly url?: () => string;
  readonly code: RegExp;
}

const FAILING: Readonly<Record<string, Failing>> = {
  "refuses the password": {
    scheme: "http",
    url: () => `http://me:s3cret-of-proxy-wrong@${proxy.authority}`,
    code: /^proxy_407$/,
  },
  "refuses the password of a tunnel": {
    scheme: "https",
    url: () => `http://me:s3cret-of-proxy-wrong@${proxy.authority}`,
    code: /^proxy_407$/,
  },
  "speaks no TLS": {
    scheme: "http",
    url: () => `https://${SIGN_IN}@${proxy.authority}`,
    code: /^proxy_(?:ERR_SSL|EPROTO|ECONNRESET)/,
  },
  "writes garbage": {
    scheme: "https",
    act: (socket) => socket.end("\0\0\r\n\r\n"),
    code: /^proxy_invalid_answer$/,
  },
  "refuses the tunnel": {
    scheme: "https",
    act: (socket) => socket.end("HTTP/1.1 403 s3cret-of-proxy\r\n\r\ns3cret-of-proxy"),
    code: /^proxy_403$/,
  },
  closes: { scheme: "https", act: (socket) => socket.end(), code: /^proxy_connection_closed$/ },
  hangs: { scheme: "https", act: () => {}, code: /^proxy_timeout$/ },
};

describe("a proxy that fails", () => {
  test.each(Object.keys(FAILING))("because it %s has the next endpoint asked", async (name) => {
    const { scheme, act, url = withPassword, code } = FAILING[name] as Failing;
    const log: string[] = [];
    proxy.act = act;
    const baseUrl = `${scheme}://provider.test:${portOf(provider.url)}/v1`;
    await opened({
      log,
      env: { [`${scheme}_proxy`]: url() },
      settings: { timeouts: { connect_ms: 250 } },
      endpoints: [{ provider: "failing", baseUrl }, { provider: "healthy" }],
    });
    for (const stream of [false, true]) {
      const answer = await ask({ stream, ...inOrder("failing", "healthy") });
      expect(answer.status).toBe(200);
      const record = await recordOf(gateway, requestIdOf(answer));
      expect(attemptsOf(record)).toEqual(["connect_error 0 network", "ok 200"]);
      const alone = await ask({ stream, svc: { route: { providers: { only: ["failing"] } } } });
      expect(alone.status).toBe(502);
      for (const secret of SECRETS) expect(`${alone.text}${JSON.stringify(record)}`).not.toContain(secret);
    }
    const failures = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "an upstream failed");
    for (const failure of failures) expect(failure.code).toMatch(code);
    expect(failures).toHaveLength(4);
    const paths = ["/metrics", "/v1/providers", "/v1/models", "/v1/models/test/model/endpoints"];
    const shown = await Promise.all(paths.map((path) => gateway.call("GET", path)));
    const texts = `${log.join("")}${shown.map(({ text }) => text).join("")}`;
    for (const secret of SECRETS) expect(texts).not.toContain(secret);
  });
});

describe("a proxy that repeats its password", () => {
  const PAIR = Buffer.from(SIGN_IN).toString("base64");
  const forms = [
    "s3cret-of-proxy",
    SIGN_IN,
    PAIR,
    `Basic ${PAIR}`,
    "s3cret%2Dof%2Dproxy",
    Buffer.from("s3cret-of-proxy").toString("base64"),
  ];
  const said = forms.filter((form) => !form.includes("%")).join(" and ");
  const bodies: readonly (readonly [status: number, body: string])[] = [
    [400, `the header was proxy-authorization: Basic ${PAIR}`],
    [400, JSON.stringify({ error: { message: said, code: "s3cret-of-proxy", type: PAIR, param: SIGN_IN } })],
    [403, `<html><title>no access for ${SIGN_IN}</title></html>`],
    [407, `<html><title>${said}</title></html>`],
    [429, `slow down, ${said}`],
    [502, `<html><title>${said}</title></html>`],
    [503, JSON.stringify({ detail: said })],
  ];

  test.each(["the environment's", "the provider's own"])("%s: it is nowhere", async (whose) => {
    const log: string[] = [];
    const isOwn = whose !== "the environment's";
    await opened({
      log,
      env: isOwn ? {} : { http_proxy: withPassword() },
      endpoints: bodies.map((_, i) => ({
        provider: `p${i}`,
        baseUrl: `${named()}/v1`,
        ...(isOwn && { proxy: withPassword() }),
      })),
    });
    for (const [i, [status, body]] of bodies.entries()) {
      proxy.act = (socket) => {
        const length = Buffer.byteLength(body);
        socket.end(
          `HTTP/1.1 ${status} ${SIGN_IN}\r\nserver: ${SIGN_IN}\r\ncontent-length: ${length}\r\n\r\n${body}`,
        );
      };
      for (const stream of [false, true]) {
        const answer = await ask({ stream, svc: { route: { providers: { only: [`p${i}`] } } } });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        const record = JSON.stringify(await recordOf(gateway, requestIdOf(answer)));
        for (const secret of forms) expect(`${answer.text}${record}`).not.toContain(secret);
      }
    }
    for (const secret of forms) expect(log.join("")).not.toContain(secret);
    expect((await gateway.call("GET", "/metrics")).text).not.toContain("s3cret");
  });
});

// Only newer versions of Node can be told whom to trust.
describe.skipIf(!("setDefaultCACertificates" in tls))("a tunnel", () => {
  let trusted: string[];
  let front: TlsFront | undefined;
  let socks: SocksProxy | undefined;
  beforeAll(() => {
    trusted = tls.getCACertificates("default");
    tls.setDefaultCACertificates([CERTIFICATE]);
  });
  afterAll(() => tls.setDefaultCACertificates(trusted));
  afterEach(() => Promise.all([front?.close(), socks?.close()]));

  /** The simulator behind TLS: its address is known only once a gateway is there, so its front comes first. */
  async function openedBehindTls(env: (port: number) => Record<string, string>) {
    const { startSimulator } = await import("../../../../simulator/simulator.ts");
    const simulator = await startSimulator({});
    front = await startTlsFront(simulator.url);
    await opened({
      env: env(front.port),
      endpoints: [{ provider: "remote", baseUrl: `https://provider.test:${front.port}/v1` }],
    });
    return simulator;
  }

  test.each(["CONNECT", "SOCKS"])("by %s carries calls, whole, streamed and many at once", async (kind) => {
    socks = await startSocksProxy(SIGN_IN);
    const url = kind === "SOCKS" ? `socks5h://${SIGN_IN}@${socks.authority}` : withPassword();
    const simulator = await openedBehindTls(() => ({ HTTPS_PROXY: url }));
    const asked = kind === "SOCKS" ? socks.asked : proxy.asked;
    expect((await ask()).status).toBe(200);
    const streamed = await events(await start(gateway, { stream: true }));
    expect(streamed.at(-1)).toBe("[DONE]");
    expect([asked.length, front?.connections]).toEqual([1, 1]);
    expect(asked[0]).toMatch(/^(?:CONNECT|name) provider\.test:\d+$/);
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        ask({ messages: [{ role: "user", content: `[[sim echo]] ${i} of many` }] }),
      ),
    );
    expect(all.map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect(all.every(({ json }, i) => json.choices[0].message.content.includes(`${i} of many`))).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(41);
    await simulator.close();
  });

  test("T16: ends at the proxy and at the provider with its client", async () => {
    const simulator = await openedBehindTls(() => ({ HTTPS_PROXY: withPassword() }));
    const open = proxy.connections.open;
    const messages = [{ role: "user", content: "[[sim tokens=100000 gap_ms=20]]" }];
    const gone = new AbortController();
    const response = await start(gateway, { stream: true, messages }, { signal: gone.signal });
    await response.body?.getReader().read();
    expect(proxy.connections.open).toBe(open + 1);
    gone.abort();
    await until(
      "the tunnel is closed",
      () => [proxy.connections.open, simulator.openCalls],
      equals([open, 0]),
    );
    await atRest(gateway);
    await simulator.close();
  });
});
