/** Addresses of Redis, and a master that Sentinels know. */
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRedis, type RedisLink } from "../../../src/cells/redis.ts";
import { redisAddress } from "../../../src/redis-address.ts";
import { freePort } from "../../support/free-port.ts";
import { missingRedis, startRedis, type TestRedis } from "./redis-server.ts";
import { MASTER, type Sentinel, startSentinel } from "./sentinels.ts";

const missing = missingRedis();

interface Watched {
  readonly redis: TestRedis;
  readonly sentinel: Sentinel;
}

describe.skipIf(missing !== undefined)(`Sentinels${missing === undefined ? "" : `: ${missing}`}`, () => {
  /** A master and a Sentinel that watches it. @param lines of the Sentinel's file */
  async function watched(lines: readonly string[] = []): Promise<Watched & { readonly port: number }> {
    const port = await freePort();
    const redis = await startRedis(["--port", String(port)]);
    onTestFinished(() => redis.stop());
    return { redis, port, sentinel: await sentinelOf(port, lines) };
  }

  async function sentinelOf(port: number, lines: readonly string[] = []): Promise<Sentinel> {
    const sentinel = await startSentinel(port, 1, lines);
    onTestFinished(() => sentinel.stop());
    return sentinel;
  }

  /** @param log takes what is logged */
  function linkTo(url: string, log: unknown[] = []): RedisLink {
    const link = connectRedis({ url, log: { warn: (...said) => void log.push(...said) } });
    onTestFinished(() => link.close());
    return link;
  }

  test("the master is asked of them", async () => {
    const { redis, sentinel } = await watched();
    const link = linkTo(`redis-sentinel://127.0.0.1:${sentinel.port}/${MASTER}`);
    await link.ready(10_000);
    expect(String(await link.call("INFO", "server"))).toContain(`process_id:${redis.pid()}`);
    link.renew();
    await expect.poll(() => link.generation()).toBe(1);
    await link.ready(10_000);
    expect(String(await link.call("PING"))).toBe("PONG");
  });

  test("one that hangs is passed over for the next", async () => {
    const { port, sentinel } = await watched();
    const next = await sentinelOf(port);
    await linkTo(`redis-sentinel://127.0.0.1:${sentinel.port}/${MASTER}`).ready(10_000);
    sentinel.pause();
    const link = linkTo(`redis-sentinel://127.0.0.1:${sentinel.port},127.0.0.1:${next.port}/${MASTER}`);
    await link.ready(10_000);
    expect(String(await link.call("PING"))).toBe("PONG");
  });
});

test("addresses are read, and wrong ones refused without a word of what they hold", () => {
  expect(redisAddress("/run/redis.sock")).toEqual({ kind: "socket", path: "/run/redis.sock" });
  expect(redisAddress("unix:///run/redis.sock")).toEqual({ kind: "socket", path: "/run/redis.sock" });
  expect(redisAddress("rediss://u:p@host:6380/2").kind).toBe("url");
  expect(redisAddress("rediss-sentinel://us%40er:p%3Aw@a:1,[::1]/m/3")).toEqual({
    kind: "sentinels",
    sentinels: [
      { host: "a", port: 1 },
      { host: "::1", port: 26_379 },
    ],
    ...{ master: "m", username: "us@er", password: "p:w", db: 3, isTls: true },
  });
  const wrong = ["", "secret", "http://secret@h", "redis://", "unix://secret", "redis-sentinel://secret"];
  const odd = ["redis-sentinel://secret%@h/m", "redis-sentinel://h,,/", "redis-cluster://secret@h"];
  for (const text of [...wrong, ...odd]) {
    expect(() => redisAddress(text)).toThrow();
    expect(() => redisAddress(text)).not.toThrow(/secret/);
  }
});
