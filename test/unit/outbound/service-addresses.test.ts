/** Where services listen that the installation uses: what settings name, and what DNS says of it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { readProxyAddress } from "../../../src/base/network/proxy-address.ts";
import { servicesOfCatalog, servicesOfConfig } from "../../../src/host/gateway/named-services.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { type Address, readAddress } from "../../../src/outbound/address.ts";
import {
  type LookUp,
  type Service,
  ServiceAddresses,
  serviceAt,
} from "../../../src/outbound/service-addresses.ts";
import { ManualTime } from "../../support/jobs/fixtures.ts";

const address = (text: string): Address => readAddress(text) as Address;

describe("S2: a service is read from every form of a URL", () => {
  test.each([
    ["http://clickhouse:8123/weir", { host: "clickhouse", port: 8123 }],
    ["https://user:pass@CH.example.com./x", { host: "ch.example.com", port: 443 }],
    ["http://[::1]:9", { host: "::1", port: 9 }],
    ["http://2130706433/", { host: "127.0.0.1", port: 80 }],
    ["redis://user:pass@Redis.Internal", { host: "redis.internal", port: 6379 }],
    ["rediss://0x7f.1:6380/0", { host: "127.0.0.1", port: 6380 }],
    ["smtp://localhost:2525", { host: "localhost", port: 2525 }],
    ["", undefined],
    ["/run/redis.sock", undefined],
  ])("%s", (url, service) => {
    expect(serviceAt(url)).toEqual(service);
  });
});

test("S2: every variable that names a service is read", () => {
  const config = readConfig({
    CLICKHOUSE_URL: "http://h:1",
    SIMULATOR_URL: "http://h:2",
    SMTP_URL: "smtp://h:3",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://h:4",
    FX_URL: "http://h:5",
    OIDC_ISSUER: "https://h:6",
    OIDC_CLIENT_ID: "a",
    OIDC_CLIENT_SECRET: "b",
    PUBLIC_URL: "http://localhost:7",
    REDIS_URL: "redis-sentinel://h:8,[fd00::1]:9/master",
    STRIPE_API_BASE: "https://h:10",
    STRIPE_SECRET_KEY: "sk",
    STRIPE_WEBHOOK_SECRET: "wh",
    RAZORPAY_API_BASE: "https://h:11",
    RAZORPAY_KEY_ID: "id",
    RAZORPAY_KEY_SECRET: "s",
    RAZORPAY_WEBHOOK_SECRET: "s",
    HTTP_PROXY: "http://u:p@h:14",
    https_proxy: "socks5://h:15",
    PAYMENTS_SIMULATOR_URL: "http://127.0.0.1:12",
    PAYMENTS_SIMULATOR_KEY: "k",
    PAYMENTS_SIMULATOR_WEBHOOK_SECRET: "w",
    CONFIG_DIR: import.meta.dirname,
  });
  const ports = servicesOfConfig(config, ["http://h:13", undefined]).map(({ port }) => port);
  expect(ports.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
});

test("S2: providers that are reached are services, in each of their regions, and their proxies", () => {
  const provider = (status: string, baseUrl: string) => ({
    status,
    baseUrl,
    regionUrls: { eu: "http://vllm.eu:8000/v1" },
    regions: ["eu", "us"],
    proxy: readProxyAddress("http://u:p@proxy:3128"),
  });
  const providers = new Map([
    ["a", provider("active", "http://vllm-{region}:8000")],
    ["b", provider("inactive", "http://10.0.0.1:8000")],
  ]) as never;
  const hosts = servicesOfCatalog({ providers }).map(({ host }) => host);
  expect(hosts).toEqual(["vllm-eu", "vllm-us", "vllm.eu", "proxy"]);
});

function opened(services: readonly Service[], answers: Record<string, readonly string[] | Error>) {
  const time = new ManualTime();
  const asked: string[] = [];
  const lookUp: LookUp = async (name) => {
    asked.push(name);
    const answer = answers[name] ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const made = new ServiceAddresses({
    services: () => services,
    timers: time,
    lookUp,
    ownAddresses: () => new Set(["10.1.1.1"]),
  });
  onTestFinished(() => made.close());
  const has = (text: string, port: number) => made.has(address(text), port);
  /** Until the look-ups that are under way have ended. */
  const looked = () => new Promise((resolve) => setImmediate(resolve));
  return { made, has, time, asked, looked };
}

const fault = (code: string) => Object.assign(new Error(code), { code });

test("S2: until a name is looked up nothing but public addresses is called on its port", async () => {
  const { made, has, looked } = opened([{ host: "redis", port: 6379 }], { redis: ["10.2.2.2"] });
  expect([has("10.9.9.9", 6379), has("127.0.0.1", 6379), has("8.8.8.8", 6379)]).toEqual([true, true, false]);
  expect(has("10.9.9.9", 6380)).toBe(false);
  made.start();
  await looked();
  expect([has("10.2.2.2", 6379), has("10.9.9.9", 6379), has("10.2.2.2", 6380)]).toEqual([true, false, false]);
  expect([made.hasName("redis", 6379), made.hasName("redis", 6380)]).toEqual([true, false]);
});

test("S2: a name that does not exist keeps nothing back, one that cannot be asked for keeps all", async () => {
  const services = ["gone", "silent"].map((host) => ({ host, port: host.length }));
  const { made, has, looked } = opened(services, { gone: fault("ENOTFOUND"), silent: fault("EAI_AGAIN") });
  made.start();
  await looked();
  expect([has("10.9.9.9", 4), has("10.9.9.9", 6)]).toEqual([false, true]);
});

test("S2: a change of DNS is seen, and a failure of it forgets nothing", async () => {
  const answers: Record<string, readonly string[] | Error> = { db: ["10.2.2.2"] };
  const { made, has, time, looked } = opened([{ host: "db", port: 9000 }], answers);
  made.start();
  await looked();
  answers.db = fault("ENOTFOUND");
  time.advance(60_000);
  await looked();
  expect(has("10.2.2.2", 9000)).toBe(true);
  answers.db = ["10.3.3.3"];
  time.advance(60_000);
  await looked();
  expect([has("10.2.2.2", 9000), has("10.3.3.3", 9000)]).toEqual([false, true]);
});

test("S2: a service on this machine keeps its port from every address of it", async () => {
  const services = [
    { host: "127.0.0.5", port: 1 },
    { host: "10.1.1.1", port: 2 },
    { host: "box", port: 3 },
    { host: "a.localhost", port: 4 },
    { host: "10.1.1.2", port: 5 },
  ];
  const { made, asked, looked } = opened(services, { box: ["::1"] });
  made.start();
  await looked();
  expect(made.ports()).toEqual([1, 2, 3, 4]);
  expect(asked).toEqual(["box"]);
});

test("S2: a service on the Internet is no secret, unless its settings name an address", async () => {
  const services = [
    { host: "api.example.com", port: 443 },
    { host: "203.0.115.7", port: 443 },
  ];
  const { made, has, looked } = opened(services, { "api.example.com": ["93.184.215.14"] });
  made.start();
  await looked();
  expect([has("93.184.215.14", 443), made.hasName("api.example.com", 443)]).toEqual([false, false]);
  expect([has("203.0.115.7", 443), made.hasName("203.0.115.7", 443)]).toEqual([true, true]);
});
