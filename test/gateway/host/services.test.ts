/** What a gateway alone has built in, a cell of several machines has not: its start names what to set. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { Listeners } from "../../../src/base/network/listeners.ts";
import { isOnThisMachine, redisAddress } from "../../../src/cluster/cells/redis/address.ts";
import { servicesOf } from "../../../src/host/services/services.ts";
import { readConfig } from "../../../src/host/settings/config.ts";

function ofCell(env: Record<string, string>) {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const around = { isCell: true, ofMachine: undefined };
  return {
    ...servicesOf(readConfig(env), { clock: systemClock, log, listeners: new Listeners() }, around),
    lines,
  };
}

test("a cell without a common supervisor names each setting that it needs, and starts nothing of its own", async () => {
  const { services, ownServices, lines } = ofCell({});
  expect(lines.map((line) => line.split(":")[0])).toEqual([
    "OIDC_ISSUER",
    "PAYMENTS_SIMULATOR_URL",
    "SMTP_URL",
  ]);
  expect(ownServices).toBeUndefined();
  await expect(services.identity()).rejects.toMatchObject({
    code: "identity_unavailable",
    message: expect.stringContaining("OIDC_ISSUER"),
  });
  await expect(services.payments()).rejects.toThrow("PAYMENTS_SIMULATOR_URL");
  expect([await services.portal(), services.state().ports]).toEqual([undefined, []]);
});

test("a cell that has them set is told nothing", () => {
  const oidc = { OIDC_ISSUER: "https://id.example.com", OIDC_CLIENT_ID: "a", OIDC_CLIENT_SECRET: "b" };
  const simulator = {
    PAYMENTS_SIMULATOR_URL: "http://127.0.0.1:9",
    PAYMENTS_SIMULATOR_KEY: "key",
    PAYMENTS_SIMULATOR_WEBHOOK_SECRET: "secret",
  };
  expect(ofCell({ ...oidc, ...simulator, SMTP_URL: "smtp://mail.example.com" }).lines).toEqual([]);
});

test.each([
  ["/run/redis.sock", true],
  ["redis://127.0.0.1:6379", true],
  ["redis://user:hidden@LOCALHOST/1", true],
  ["rediss://[::1]:6380", true],
  ["redis://10.1.1.1:6379", false],
  ["redis://localhost.example.com", false],
  ["redis-sentinel://127.0.0.1:26379/main", false],
])("whether no other machine has cells at %s: %s", (url, expected) => {
  expect(isOnThisMachine(redisAddress(url))).toBe(expected);
});
