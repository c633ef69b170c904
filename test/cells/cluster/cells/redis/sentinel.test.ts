/** Addresses of Redis, and a master that Sentinels know. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { redisAddress } from "../../../../../src/cluster/cells/redis/address.ts";
import { connectRedis, type RedisLink } from "../../../../../src/cluster/cells/redis/redis.ts";
import { redisArguments } from "../../../../../src/cluster/cells/redis/required-settings.ts";
import { missingCommand } from "../../../../support/debian.ts";
import { freePort } from "../../../../support/free-port.ts";
import { missingRedis, startRedis, type TestRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { MASTER, type Sentinel, startSentinel } from "./sentinels.ts";

const missing = missingRedis();
/** All that a cell asks of a Sentinel. */
const RIGHTS = "+sentinel|get-master-addr-by-name +sentinel|sentinels";

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
    await until("the link has found the master", () => link.generation(), equals(1));
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

  test("they have users of their own, whose password is in the address, and in no line", async () => {
    const lines = [
      "requirepass of:all",
      `user weir on >of%weir ${RIGHTS}`,
      `sentinel auth-pass ${MASTER} its`,
    ];
    const { redis, sentinel } = await watched(lines);
    const setting = linkTo(redis.url);
    await setting.ready(10_000);
    await setting.call("CONFIG", "SET", "requirepass", "its");
    const address = (sentinelLogin: string) =>
      `redis-sentinel://:its@127.0.0.1:${sentinel.port}/${MASTER}${sentinelLogin}`;
    for (const login of ["of%3Aall", ":of%3Aall", "default:of%3Aall", "weir:of%25weir"]) {
      const link = linkTo(address(`?sentinel=${login}`));
      await link.ready(10_000);
      expect(String(await link.call("PING"))).toBe("PONG");
    }
    for (const [login, why] of [
      ["", "NOAUTH"],
      ["?sentinel=its", "WRONGPASS"],
      ["?sentinel=weir:of%3Aall", "WRONGPASS"],
    ] as const) {
      const said: unknown[] = [];
      const link = linkTo(address(login), said);
      await until(
        "the log says why",
        () => JSON.stringify(said),
        (seen) => seen.includes(why),
      );
      expect(JSON.stringify(said)).not.toMatch(/of:all|its\b/);
      expect(link.isReady()).toBe(false);
    }
  });

  test.skipIf(missingCommand("openssl", "openssl") !== undefined)(
    "rediss-sentinel:// asks them by TLS, too, and trusts what Node trusts",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "weir-tls-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const [file, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
      const subject = ["-subj", "/CN=weir", "-addext", "subjectAltName=IP:127.0.0.1"];
      const made = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
      execFileSync("openssl", ["req", ...made, ...subject, "-out", file, "-keyout", key], {
        stdio: "ignore",
      });
      const tls = {
        "tls-cert-file": file,
        "tls-key-file": key,
        "tls-ca-cert-file": file,
        "tls-auth-clients": "no",
      };
      const [port, sentinelPort] = [await freePort(), await freePort()];
      const redis = await startRedis(redisArguments({ "tls-port": String(port), ...tls }));
      onTestFinished(() => redis.stop());
      const settings = Object.entries(tls).map((setting) => setting.join(" "));
      const lines = [...settings, "port 0", `tls-port ${sentinelPort}`];
      await sentinelOf(port, [...lines, "tls-replication yes"]);
      const url = `rediss-sentinel://127.0.0.1:${sentinelPort}/${MASTER}`;
      const asked = async (trusted: string, withinMs: number) => {
        const script = join(import.meta.dirname, "asked-process.ts");
        const options = { env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted } };
        const args = [script, url, String(withinMs)];
        return (await promisify(execFile)(process.execPath, args, options)).stdout.trim();
      };
      expect(await asked(file, 10_000)).toBe(`process_id:${redis.pid()}`);
      expect(await asked("", 1000)).toBe("");
    },
  );
});

test("addresses are read, and wrong ones refused without a word of what they hold", () => {
  expect(redisAddress("/run/redis.sock")).toEqual({ kind: "socket", path: "/run/redis.sock" });
  expect(redisAddress("unix:///run/redis.sock")).toEqual({ kind: "socket", path: "/run/redis.sock" });
  expect(redisAddress("rediss://u:p@host:6380/2").kind).toBe("url");
  expect(redisAddress("rediss-sentinel://us%40er:p%3Aw@a:1,[::1]/m/3?sentinel=%3A%3F:p:w+?")).toEqual({
    kind: "sentinels",
    sentinels: [
      { host: "a", port: 1 },
      { host: "::1", port: 26_379 },
    ],
    login: { username: "us@er", password: "p:w" },
    sentinelLogin: { username: ":?", password: "p:w+?" },
    master: "m",
    db: 3,
    isTls: true,
  });
  const wrong = ["", "secret", "http://secret@h", "redis://", "unix://secret", "redis-sentinel://secret"];
  const odd = [
    "redis-sentinel://secret%@h/m",
    "redis-sentinel://h,,/",
    "redis-cluster://secret@h",
    "redis-sentinel://h/m?sentinel=",
    "redis-sentinel://h/m?password=secret",
    "redis-sentinel://h/m?sentinel=secret%",
    "redis-sentinel://h/m?sentinel=secret&db=1",
  ];
  for (const text of [...wrong, ...odd]) {
    expect(() => redisAddress(text)).toThrow();
    expect(() => redisAddress(text)).not.toThrow(/secret/);
  }
});
