/** The files of `config/deploy` for several cells, read for tests; their proxy and what it needs around it. */
import { createSocket } from "node:dgram";
import { chownSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { parse } from "yaml";
import { missingCommand } from "../debian.ts";
import { run } from "../process.fixtures.ts";
import { Hopeless, until } from "../wait.ts";
import { asImageUser, deployFile, IMAGE_USER, imageUserFolder, type Service } from "./fixtures.ts";

export const CELL_NAMES = ["weir-1", "weir-2", "weir-3"] as const;

interface CellsFile {
  readonly services: Record<
    (typeof CELL_NAMES)[number] | "init" | "proxy" | "redis" | "clickhouse",
    CellService
  >;
  readonly networks: { readonly default: { readonly ipam: { readonly config: { subnet: string }[] } } };
  readonly volumes: Record<string, null>;
}

export interface CellService extends Service {
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly user?: string;
}

/** compose.cells.yaml, its anchors followed. */
export const cellsFile = (): CellsFile => parse(deployFile("compose.cells.yaml"), { merge: true });

export const NGINX_FILE = "cells.nginx.conf";
/** Why nginx cannot be had; undefined where it can. */
export const missingNginx = (): string | undefined => missingCommand("nginx", "nginx-light");

/**
 * Command lines of nginx with the file as it stands, but for what Docker gives it: ports, its server of names, a folder in place of
 * `/tmp`. It runs without root, as in its container.
 */
export function nginxCommand(
  replaced: { listen: string; cells: number; names: number },
  text = deployFile(NGINX_FILE),
) {
  const folder = imageUserFolder();
  const file = join(folder, "nginx.conf");
  const swaps = [
    ["listen 8787;", `listen ${replaced.listen};`],
    ["http://$cells:8787;", `http://$cells:${replaced.cells};`],
    ["resolver 127.0.0.11 ", `resolver 127.0.0.1:${replaced.names} `],
    ["worker_processes auto;", "worker_processes 1;"],
    ["worker_rlimit_nofile 40000;", ""],
    ["worker_connections 16384;", "worker_connections 200;"],
  ] as const;
  let written = text;
  for (const [from, to] of swaps) {
    if (!written.includes(from)) throw new Error(`${NGINX_FILE} lacks ${from}`);
    written = written.replace(from, to);
  }
  writeFileSync(file, written.replaceAll(" /tmp/", ` ${folder}/`));
  if (process.getuid?.() === 0) chownSync(file, IMAGE_USER, IMAGE_USER);
  return ["-p", folder, "-e", "stderr", "-c", file];
}

/** Starts the proxy. @returns its address */
export async function startNginx(listen: number, cells: number, names: number): Promise<string> {
  const args = nginxCommand({ listen: `127.0.0.1:${listen}`, cells, names });
  const { output, child } = run("nginx", [...args, "-g", "daemon off;"], {
    ...asImageUser,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // The test's end stops it in good order: a killed master leaves its worker behind.
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await until("nginx has ended", () => child.exitCode !== null || child.signalCode !== null);
  });
  const url = `http://127.0.0.1:${listen}`;
  await until("nginx listens", async () => {
    if (child.exitCode !== null) throw new Hopeless(`nginx ended: ${output()}`);
    return (await fetch(`${url}/metrics`).catch(() => undefined))?.status === 404;
  });
  return url;
}

/** A server of names as Docker's: it knows the addresses of `cells`, and no other name. */
export async function startNames(addresses: () => readonly string[]): Promise<number> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) =>
    socket.send(answerTo(query, addresses()), port, address),
  );
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return (socket.address() as AddressInfo).port;
}

const HEAD_BYTES = 12;
const NAME_UNKNOWN = 3;

/** RFC 1035, section 4: the question again, then an address of four bytes for each cell. */
function answerTo(query: Buffer, addresses: readonly string[]): Buffer {
  const end = query.indexOf(0, HEAD_BYTES);
  const name = query.subarray(HEAD_BYTES + 1, end).toString();
  const known = name === "cells" ? addresses : [];
  const head = Buffer.alloc(HEAD_BYTES);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (known.length === 0 ? NAME_UNKNOWN : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(known.length, 6);
  const records = known.map((address) =>
    // The name of the question, type A, class IN, 600 s as Docker says, and the address.
    Buffer.from([0xc0, HEAD_BYTES, 0, 1, 0, 1, 0, 0, 2, 88, 0, 4, ...address.split(".").map(Number)]),
  );
  return Buffer.concat([head, query.subarray(HEAD_BYTES, end + 5), ...records]);
}

/** A service's variables with those of `.env` in them. */
export const environmentOf = ({ environment = {} }: CellService, dotEnv: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+)[^}]*\}/g, (_, variable) => dotEnv[variable] ?? ""),
    ]),
  );
