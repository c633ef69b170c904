/**
 * Executed in the place of the analysts' process: reads a line of JSON with what to try, tries it, and writes a line with what it
 * got. Knows nothing but what that process knows.
 */
import { spawnSync } from "node:child_process";
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";

export interface Tries {
  /** Paths to read. */
  readonly read: readonly string[];
  /** Paths to write; nothing must be there. */
  readonly write: readonly string[];
  /** Sockets to connect to: paths, abstract names (`\0…`), or ports of 127.0.0.1. */
  readonly connect: readonly (string | number)[];
  /** Stands in secrets: no file may hold it. */
  readonly canary: string;
  /** Whether to walk through everything from the root on. */
  readonly walk: boolean;
  /** Statements for the engine, run with every right that it has. */
  readonly sql: readonly string[];
}

export interface Found {
  readonly environment: NodeJS.ProcessEnv;
  readonly pid: number;
  readonly folder: string;
  /** Everything outside of the program's folder, as paths. */
  readonly paths: readonly string[];
  readonly program: readonly string[];
  /** Files that hold the canary. */
  readonly leaks: readonly string[];
  /** Open descriptors that are files, folders or sockets. */
  readonly descriptors: readonly string[];
  readonly read: Outcomes;
  readonly write: Outcomes;
  readonly connect: Outcomes;
  readonly interfaces: readonly string[];
  /** Status of commands that would give rights back. */
  readonly commands: readonly (number | null)[];
  readonly sql: readonly string[];
}

type Outcomes = Readonly<Record<string, string>>;

const LARGEST_BYTES = 1 << 22;

const tried = (act: () => unknown): string => {
  try {
    act();
    return "done";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
};

const each = (names: readonly string[], act: (name: string) => unknown): Outcomes =>
  Object.fromEntries(names.map((name) => [name, tried(() => act(name))]));

function* walk(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    yield path;
    if (lstatSync(path).isDirectory()) yield* walk(path);
  }
}

const holds = (path: string, canary: string): boolean => {
  const entry = lstatSync(path);
  return entry.isFile() && entry.size < LARGEST_BYTES && readFileSync(path).includes(canary);
};

function descriptors(): string[] {
  const open: string[] = [];
  for (let fd = 0; fd < 256; fd++) {
    tried(() => {
      const entry = fstatSync(fd);
      const kind = entry.isSocket()
        ? "socket"
        : entry.isFile()
          ? "file"
          : entry.isDirectory()
            ? "folder"
            : "";
      if (kind !== "") open.push(`${fd} ${kind}`);
    });
  }
  return open;
}

const reached = (to: string | number): Promise<string> =>
  new Promise((resolve) => {
    const socket = typeof to === "number" ? connect(to, "127.0.0.1") : connect(to);
    socket.once("connect", () => {
      socket.destroy();
      resolve("done");
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? String(error)));
  });

const COMMANDS = [
  ["/usr/bin/umount", "/records/store"],
  ["/bin/umount", "/records/store"],
  ["/usr/bin/setpriv", "--reuid=12345", "--clear-groups", "/weir/node", "--version"],
];

async function answers(sql: readonly string[]): Promise<string[]> {
  if (sql.length === 0) return [];
  const { EngineRunner } = await import(join(import.meta.dirname, "src/analytics/engine/engine-run.ts"));
  const runner = await EngineRunner.open(join(process.cwd(), "engine"));
  const said: string[] = [];
  for (const statement of sql) {
    said.push(
      await runner
        .asking(new Map(), (ask: (sql: string) => Promise<unknown>) => ask(statement))
        .then(JSON.stringify, String),
    );
  }
  return said;
}

async function main(): Promise<void> {
  let given = "";
  for await (const chunk of process.stdin) given += chunk;
  const tries = JSON.parse(given) as Tries;
  const environment = { ...process.env };
  const open = descriptors();
  const all = tries.walk ? [...walk("/")] : [];
  const listener = createServer().listen("own.sock");
  const connections = await Promise.all(tries.connect.map(reached));
  listener.close();
  const found: Found = {
    environment,
    pid: process.pid,
    folder: process.cwd(),
    descriptors: open,
    paths: all.filter((path) => !path.startsWith("/weir/")),
    program: readdirSync(import.meta.dirname),
    leaks: all.filter((path) => holds(path, tries.canary)),
    read: each(tries.read, (path) => closeSync(openSync(path, "r"))),
    write: each(tries.write, (path) => writeFileSync(path, "written")),
    connect: Object.fromEntries(tries.connect.map((to, at) => [to, connections[at] ?? ""])),
    interfaces: Object.keys(networkInterfaces()),
    commands: COMMANDS.map(([file = "", ...args]) => spawnSync(file, args).status),
    sql: await answers(tries.sql),
  };
  process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0));
}

await main();
