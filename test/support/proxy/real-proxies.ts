/** Proxies as operators run them, from Debian: squid, tinyproxy and microsocks, each with a user and a password. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingCommand } from "../debian.ts";
import { freePort } from "../free-port.ts";
import { removeFolder } from "../gateway.ts";
import { until } from "../wait.ts";

export const USER = "me";
export const PASSWORD = "s3cret-of-proxy";
/** `PASSWORD`, as `openssl passwd -apr1` makes it. */
const APR1 = "$apr1$weirweir$8fJoN5qdnf9kpX.nEDyt/.";
/** A program of util-linux. */
const SETPRIV = "/usr/bin/setpriv";

export interface RealProxy {
  readonly port: number;
  /** What it printed, and what it wrote to its log. */
  output(): string;
  stop(): Promise<void>;
}

/** @returns why one of them cannot be had; undefined where all can */
export const missingProxies = (): string | undefined =>
  missingCommand("squid", "squid") ??
  missingCommand("tinyproxy", "tinyproxy") ??
  missingCommand("microsocks", "microsocks");

/** It ends with the process of the tests, however that ends. */
async function started(port: number, words: readonly string[], folder?: string): Promise<RealProxy> {
  const bound = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL", ...words] : words;
  const [program, ...rest] = bound as [string, ...string[]];
  const child: ChildProcess = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (text += String(data)));
  await until(`${words[0]} listens (${text})`, () => isListening(port));
  return {
    port,
    output: () => text,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      if (folder !== undefined) removeFolder(folder);
    },
  };
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

/**
 * Squid with a password, close to its own configuration: tunnels lead to listed ports only.
 * @param tunnels the ports; `provider.test` is this machine, and `denied.test` may not be called
 */
export async function startSquid(tunnels: readonly number[]): Promise<RealProxy> {
  // It becomes another user, who cannot look into the folder of the tests.
  const folder = mkdtempSync("/tmp/weir-squid-");
  chmodSync(folder, 0o777);
  const port = await freePort();
  const put = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o644 });
    return file;
  };
  const hosts = put("hosts", "127.0.0.1 provider.test denied.test\n");
  const users = put("users", `${USER}:${APR1}\n`);
  const config = put(
    "squid.conf",
    [
      `http_port 127.0.0.1:${port}`,
      `pid_filename ${join(folder, "squid.pid")}`,
      `hosts_file ${hosts}`,
      `auth_param basic program /usr/lib/squid/basic_ncsa_auth ${users}`,
      "auth_param basic children 2",
      "acl signed_in proxy_auth REQUIRED",
      `acl tunnels port 443 ${tunnels.join(" ")}`,
      "acl denied dstdomain denied.test",
      "http_access deny !signed_in",
      "http_access deny denied",
      "http_access deny CONNECT !tunnels",
      "http_access allow all",
      "cache deny all",
      "access_log none",
      `cache_log ${join(folder, "cache.log")}`,
      `coredump_dir ${folder}`,
      "shutdown_lifetime 0 seconds",
      "dns_timeout 2 seconds",
      "",
    ].join("\n"),
  );
  return started(port, ["squid", "-N", "-n", `weir${port}`, "-f", config], folder);
}

export async function startTinyproxy(): Promise<RealProxy> {
  const folder = mkdtempSync(join(tmpdir(), "weir-tinyproxy-"));
  const port = await freePort();
  const config = join(folder, "tinyproxy.conf");
  const lines = [`Port ${port}`, "Listen 127.0.0.1", "Timeout 60", `BasicAuth ${USER} ${PASSWORD}`, ""];
  writeFileSync(config, lines.join("\n"));
  return started(port, ["tinyproxy", "-d", "-c", config], folder);
}

/** A proxy of SOCKS 5. */
export async function startMicrosocks(): Promise<RealProxy> {
  const port = await freePort();
  return started(port, ["microsocks", "-i", "127.0.0.1", "-p", String(port), "-u", USER, "-P", PASSWORD]);
}
