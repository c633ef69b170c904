/** Addresses of Redis, and a master that Sentinels know. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectRedis } from "../../../src/cells/redis.ts";
import { redisAddress } from "../../../src/redis-address.ts";
import { freePort } from "../../support/free-port.ts";
import { missingRedis, startRedis } from "./redis-server.ts";

test.skipIf(missingRedis() !== undefined)("the master is asked of the Sentinels", async () => {
  const [port, sentinelPort] = [await freePort(), await freePort()];
  const redis = await startRedis(["--port", String(port)]);
  onTestFinished(() => redis.stop());
  const folder = mkdtempSync(join(tmpdir(), "weir-sentinel-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "sentinel.conf");
  writeFileSync(
    file,
    `port ${sentinelPort}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${port} 1\n`,
  );
  const sentinel = spawn("redis-server", [file, "--sentinel"], { stdio: "ignore" });
  onTestFinished(() => void sentinel.kill("SIGKILL"));
  const link = connectRedis({ url: `redis-sentinel://127.0.0.1:${sentinelPort}/main`, log: { warn() {} } });
  onTestFinished(() => link.close());
  await link.ready(10_000);
  expect(String(await link.call("INFO", "server"))).toContain(`process_id:${redis.pid()}`);
  link.renew();
  await expect.poll(() => link.generation()).toBe(1);
  await link.ready(10_000);
  expect(String(await link.call("PING"))).toBe("PONG");
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
