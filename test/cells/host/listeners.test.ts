/**
 * The table of listeners of docs/security.md, held against the sockets that the processes of a start really have, and against what each of
 * them answers without a credential.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { reason as notConfined } from "../../support/analytics/confined.fixtures.ts";
import { removeFolder, seededFolder } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { seedInvoices } from "../../support/invoices/invoice.fixtures.ts";
import { ABROAD, orderOf } from "../../support/invoices/rows.ts";
import { MAIN, quietPort, REPO, run } from "../../support/process.fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { Hopeless, until } from "../../support/wait.ts";

const noRedis = missingRedis();
const notLinux = process.platform === "linux" ? "" : " (skipped: sockets are read from Linux's /proc)";
const inCells = notLinux || (noRedis === undefined ? "" : ` (skipped: ${noRedis})`);

interface Row {
  readonly name: string;
  readonly address: string;
  readonly started: string;
  readonly tells: string;
}

/** The analysts' process is off where the system cannot confine it. */
const isStarted = ({ name }: Row): boolean => notConfined === "" || !name.includes("analysts");

const table: readonly Row[] = readFileSync(join(REPO, "docs/security.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [name = "", address = "", started = "", , , tells = ""] = line.split("|").slice(1);
    return { name: name.trim().replaceAll("`", ""), address: address.trim(), started, tells };
  })
  .filter(isStarted);

const isSocketFile = ({ address }: Row): boolean => address.startsWith("socket file");
const namesOf = (rows: readonly Row[]): string[] => rows.map(({ name }) => name).toSorted();

/** A process with its descendants. */
function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}

/** None where it has ended meanwhile. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

/** Inodes of the sockets that these processes hold. */
function inodesOf(pids: readonly number[]): Set<string> {
  const inodes = new Set<string>();
  for (const pid of pids) {
    for (const fd of descriptorsOf(pid)) {
      try {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
        if (inode !== undefined) inodes.add(inode);
      } catch {
        // It was closed meanwhile.
      }
    }
  }
  return inodes;
}

/** The lines of `file` in each namespace of networks that these processes are in. */
function linesOf(pids: readonly number[], file: string): string[][] {
  const texts = new Map<string, string>();
  for (const pid of pids) {
    try {
      texts.set(readlinkSync(`/proc/${pid}/ns/net`), readFileSync(`/proc/${pid}/net/${file}`, "latin1"));
    } catch {
      // It has ended meanwhile.
    }
  }
  const lines = [...texts.values()].flatMap((text) => text.trim().split("\n").slice(1));
  return lines.map((line) => line.trim().split(/\s+/));
}

/** Formats: proc_net_tcp.rst of the kernel, and unix(7). */
function socketsOf(root: number) {
  const pids = treeOf(root);
  const inodes = inodesOf(pids);
  const own = (file: string) =>
    linesOf(pids, file).filter(([, , , , , , , , , inode = ""]) => inodes.has(inode));
  const [LISTEN, NO_PEER] = ["0A", /^0+:0+$/];
  const tcp = [...own("tcp"), ...own("tcp6")]
    .filter(([, , , state]) => state === LISTEN)
    .map(([, local = ""]) => {
      const [address = "", port = ""] = local.split(":");
      return { address, port: Number.parseInt(port, 16) };
    });
  const udp = [...own("udp"), ...own("udp6")].filter(([, , remote = ""]) => NO_PEER.test(remote));
  const LISTENING = 0x1_0000;
  const unix = linesOf(pids, "unix")
    .filter(
      ([, , , flags = "", , , inode = ""]) => inodes.has(inode) && Number.parseInt(flags, 16) & LISTENING,
    )
    .map(([, , , , , , , path = ""]) => path);
  return { tcp, udp, unix };
}

interface Started {
  readonly pid: number;
  readonly url: string;
  readonly dataDir: string;
  readonly key: string;
  /** Listeners by their port, as the log says. */
  named(): Map<number, string>;
}

/** As `npm start` does it, on a folder that has a document to register. */
async function started(more: Record<string, string>): Promise<Started> {
  const folder = await seededFolder(() => {});
  onTestFinished(() => removeFolder(folder));
  await seedInvoices(folder, [orderOf({ recipient: ABROAD, taxableMinor: 5000, atMs: Date.now() })]);
  const dataDir = join(folder, "data");
  const port = await quietPort();
  const { child, output } = run(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      HOME: folder,

      DATA_DIR: dataDir,
      CONFIG_DIR: join(REPO, "config"),
      PORT: String(port),
      LOG_LEVEL: "debug",
      ...more,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pid = child.pid ?? 0;
  onTestFinished(async () => {
    for (const each of treeOf(pid).slice(1)) process.kill(each, "SIGKILL");
  });
  await until("it is ready", () => {
    if (child.exitCode !== null) throw new Hopeless(output());
    return output().includes("ready at");
  });
  return {
    pid,
    url: `http://127.0.0.1:${port}`,
    dataDir,
    key: readFileSync(join(dataDir, "first-key"), "utf8").trim(),
    named: () =>
      new Map(
        [...output().matchAll(/"listener":"(\w+)","port":(\d+)/g)].map(([, name = "", at]) => [
          Number(at),
          name,
        ]),
      ),
  };
}

/** Has everything started that starts when it is first needed. */
async function allStarted({ url, key, dataDir, named }: Started): Promise<void> {
  if (notConfined === "") {
    const operatorKey = readFileSync(join(dataDir, "operator-key"), "utf8").trim();
    const make = async () =>
      await httpCall("POST", `${url}/v1/operator/analytics/users`, {
        headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "an analyst" }),
      });
    // Until ClickHouse is up it is refused.
    await until("the analysts' user is made", make, (made) => made?.status === 201);
    const socket = join(dataDir, "clickhouse/analysts/analysts.sock");
    await until("the analysts' process listens", () => existsSync(socket));
  }
  await httpCall("GET", `${url}/auth/login`);
  await httpCall("POST", `${url}/v1/credits/topups`, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ amount_minor: 2500 }),
  });
  const wanted = ["engine", "identity", "payments", "portal"];
  await until("all listen", () => wanted.every((name) => [...named().values()].includes(name)));
}

/** What a row says of an answer: `GET /path` 200. @param hasMetricsPort metrics have left the gateway's own */
const promisesOf = (
  { name, tells }: Row,
  hasMetricsPort: boolean,
): (readonly [method: string, path: string, status: number])[] =>
  [...tells.matchAll(/`(GET|POST) ([^`]+)` (\d{3})/g)].map(([, method = "", path = "", status]) => [
    method,
    path,
    name === "gateway" && path === "/metrics" && hasMetricsPort ? 404 : Number(status),
  ]);

async function told(port: number, row: Row, hasMetricsPort: boolean): Promise<string[]> {
  const faults: string[] = [];
  for (const [method, path, status] of promisesOf(row, hasMetricsPort)) {
    const body = path.endsWith("/completions") ? COMPLETION : "{";
    const answer = await httpCall(method, `http://127.0.0.1:${port}${path}`, {
      ...(method === "POST" && { headers: { "content-type": "application/json" }, body }),
    });
    if (answer?.status !== status)
      faults.push(`${row.name}: ${method} ${path} is ${answer?.status}, not ${status}`);
  }
  return faults;
}

const COMPLETION = JSON.stringify({ model: "sim-small", messages: [{ role: "user", content: "Hello" }] });
/** 127.0.0.1 as /proc writes it. */
const LOOPBACK = "0100007F";

async function webhookTo({ url, key }: Started, port: number): Promise<number | undefined> {
  const made = await httpCall("POST", `${url}/v1/webhooks`, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/` }),
  });
  return made?.status;
}

/** The sockets of a start are those of the rows, each tells what its row says, and no webhook reaches one. */
async function check(at: Started, rows: readonly Row[]): Promise<void> {
  const hasMetricsPort = namesOf(rows).includes("metrics");
  await allStarted(at);
  const { tcp, udp, unix } = socketsOf(at.pid);
  const named = at.named();
  expect(tcp.filter(({ port }) => !named.has(port))).toEqual([]);
  expect(tcp.filter(({ address }) => address !== LOOPBACK)).toEqual([]);
  expect(udp).toEqual([]);
  const names = new Set(tcp.map(({ port }) => named.get(port) ?? ""));
  expect([...names].toSorted()).toEqual(namesOf(rows.filter((row) => !isSocketFile(row))));
  const files = rows.filter(isSocketFile);
  expect(unix.map((path) => path.split("/").at(-1)).toSorted()).toEqual(
    namesOf(files)
      .map((name) => name.split("/").at(-1))
      .toSorted(),
  );
  for (const { name } of files) {
    const file = statSync(join(at.dataDir, name));
    expect([name, file.isSocket()]).toEqual([name, true]);
    expect([name, statSync(dirname(join(at.dataDir, name))).mode & 0o077]).toEqual([name, 0]);
  }
  const faults: string[] = [];
  for (const port of new Set(tcp.map(({ port }) => port))) {
    const row = rows.find(({ name }) => name === named.get(port)) as Row;
    expect([row.name, promisesOf(row, hasMetricsPort).length > 0]).toEqual([row.name, true]);
    faults.push(...(await told(port, row, hasMetricsPort)));
    // A cell hears of the ports of the others a moment after their start.
    await until(`no webhook reaches ${row.name}`, async () => (await webhookTo(at, port)) === 400);
  }
  expect(faults).toEqual([]);
}

describe("S2: what listens is what docs/security.md says", () => {
  test.skipIf(notLinux)(`of a gateway alone${notLinux}`, async () => {
    const rows = table.filter(
      ({ started }) => !/with `(METRICS_PORT|CELLS|redis)/.test(started.split(";")[0] ?? ""),
    );
    await check(await started({}), rows);
  });

  test.skipIf(inCells)(`of three cells, with one port for their metrics${inCells}`, async () => {
    const at = await started({ CELLS: "3", METRICS_PORT: "0" });
    await check(at, table);
  });
});
