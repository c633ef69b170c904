/**
 * Keeps the analysts' process running while there are analysts: starts it, confined as the system allows, starts it again when it
 * dies, and passes statements to it. It lives in the engine's process and ends with it, also by kill -9.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { mkdir, rename, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTime } from "../../base/clock.ts";
import { request } from "../../base/network/node-http.ts";
import { ANALYST_SECONDS } from "../statements/analyst-settings.ts";
import { EngineError, exception } from "../statements/engine-error.ts";
import type { AnalystStatement } from "./analyst-run.ts";
import {
  PROGRAM,
  programFiles,
  RECORDS,
  rootCommand,
  rootEnvironment,
  SCRATCH,
  type Visible,
} from "./confined-root.ts";
import { FORMAT_HEADER, READY, SOCKET, type WireError, type WireStatement } from "./confined-wire.ts";
import { type AnalystsSetting, type Confinement, offText, probeConfinement } from "./confinement.ts";
import type { Result } from "./engine-run.ts";
import { nothingInherited } from "./inherited-descriptors.ts";

/** In the engine's folder; holds everything that the process may write. */
const FOLDER = "analysts";
const SCRATCH_FOLDER = join(FOLDER, "scratch");
const ROOT_FOLDER = join(FOLDER, "root");
/** Out of the process's reach, once it listens: in its own folder it could put a link to another socket there. */
const SOCKET_FILE = join(FOLDER, SOCKET);
/** Folders that the process reads, in the engine's: definitions of tables, and their parts. No statement, password or row file is in them. */
const READ = ["metadata", "store"];

const START_MS = 20_000;
/** No statement takes longer to its first row: a process that is silent beyond that is ended. */
const SILENT_MS = (ANALYST_SECONDS + 30) * 1000;
const MAX_BACKOFF_MS = 5000;
const STEADY_MS = 10_000;
const MOST_ERROR_BYTES = 1 << 20;
const THREADS = "8";

export interface LaunchOptions {
  readonly confinement: Exclude<Confinement, { kind: "off" }>;
  /** The engine's; the working folder. */
  readonly engineFolder: string;
  /** Executed in the analysts' place: a file of TypeScript. Default: their process. */
  readonly program?: string;
}

/** Starts the process, in an empty folder of its own. It has no environment but what Node and the engine need. */
export async function launch({
  confinement,
  engineFolder,
  program = PROCESS,
}: LaunchOptions): Promise<ChildProcess> {
  const [scratch, root] = [join(engineFolder, SCRATCH_FOLDER), join(engineFolder, ROOT_FOLDER)];
  await rm(join(engineFolder, FOLDER), { recursive: true, force: true });
  const readFolders = READ.map((name) => join(engineFolder, name));
  for (const folder of [scratch, root, ...readFolders]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...nothingInherited()];
  const environment = { TMPDIR: scratch, TZ: "UTC", UV_THREADPOOL_SIZE: THREADS };
  const flags = "--disable-warning=ExperimentalWarning";
  if (confinement.kind === "unconfined") {
    const args = [flags, program, engineFolder];
    return spawn(process.execPath, args, { stdio, cwd: scratch, env: environment });
  }
  const { namespaces } = confinement;
  const isOwn = program === PROCESS;
  const inRoot = isOwn ? `${PROGRAM}/${OWN}` : `${PROGRAM}/${basename(program)}`;
  const { visible, linked } = await programFiles();
  const records: Visible[] = READ.map((name) => ({
    from: join(engineFolder, name),
    to: join(RECORDS, name),
  }));
  const { file, args } = await rootCommand({
    namespaces,
    linked,
    scratch,
    mountPoint: root,
    visible: [...visible, ...records, ...(isOwn ? [] : [{ from: program, to: inRoot }])],
    execute: [`${PROGRAM}/node`, flags, inRoot, RECORDS],
  });
  const env = { ...environment, TMPDIR: SCRATCH, ...rootEnvironment(namespaces) };
  return spawn(file, args, { stdio, env });
}

/** The program, from the folder of the sources and packages. */
const OWN = "src/analytics/engine/confined-child.ts";
const PROCESS = fileURLToPath(new URL("./confined-child.ts", import.meta.url));

interface Running {
  readonly child: ChildProcess;
  /** Rejects if the process ends before it takes statements. */
  readonly ready: Promise<void>;
}

export class ConfinedProcess {
  readonly #engineFolder: string;
  readonly #setting: AnalystsSetting;
  readonly #probe: (setting: AnalystsSetting) => Promise<Confinement>;
  #confinement: Promise<Confinement> | undefined;
  #isWanted = false;
  #running: Promise<Running> | undefined;
  /** The start that `#running` belongs to: what an earlier start does late is of no account. */
  #start = 0;
  #backoffMs = 100;
  #again: NodeJS.Timeout | undefined;

  /** @param engineFolder the engine's: the working folder of this process */
  constructor(engineFolder: string, setting: AnalystsSetting, probe = probeConfinement) {
    this.#engineFolder = engineFolder;
    this.#setting = setting;
    this.#probe = probe;
  }

  /** Whether there are analysts. While there are, the process runs, so that no statement waits for its start. */
  want(isWanted: boolean): void {
    this.#isWanted = isWanted;
    if (isWanted) this.#ensure().catch(() => {});
    else this.stop();
  }

  /** @throws EngineError before the first row: refused by the engine, or analysts are off, or the process does not run */
  async run(statement: AnalystStatement): Promise<Result> {
    const confinement = await this.#allowed();
    if (confinement.kind === "off") throw exception(ANALYSTS_OFF, offText(confinement.reason));
    if (!this.#isWanted) throw notRunning(new Error("there are no analysts"));
    const failed = (error: unknown): never => {
      throw notRunning(error);
    };
    const { child, ready } = await this.#ensure().catch(failed);
    const late = () => {
      throw new Error("it does not start in time");
    };
    await inTime(ready, START_MS, late).catch(failed);
    const answer = await this.#send(child, statement);
    if (answer.statusCode !== 200) throw await errorOf(answer);
    return { format: String(answer.headers[FORMAT_HEADER] ?? "").replace(/\W/g, ""), chunks: answer };
  }

  /** Ends the process at once: a kill does not harm what it reads, and it keeps nothing. */
  stop(): void {
    this.#isWanted = false;
    clearTimeout(this.#again);
    this.#running?.then(({ child }) => child.kill("SIGKILL")).catch(() => {});
    this.#running = undefined;
    this.#start++;
  }

  #allowed(): Promise<Confinement> {
    this.#confinement ??= this.#probe(this.#setting);
    return this.#confinement;
  }

  #ensure(): Promise<Running> {
    this.#running ??= this.#begin(++this.#start);
    return this.#running;
  }

  async #begin(start: number): Promise<Running> {
    const confinement = await this.#allowed();
    if (confinement.kind === "off") throw new Error(confinement.reason);
    let child: ChildProcess;
    try {
      child = await launch({ confinement, engineFolder: this.#engineFolder });
    } catch (error) {
      this.#startAgain(start);
      throw error;
    }
    const ready = readinessOf(child).then(() => this.#takeSocket());
    ready.then(
      () => setTimeout(() => this.#calm(child), STEADY_MS).unref(),
      () => child.kill("SIGKILL"),
    );
    const ended = () => this.#startAgain(start);
    child.once("exit", ended);
    child.once("error", ended);
    return { child, ready };
  }

  /** Before the first statement: until then the process has run nothing but the gateway's code. */
  async #takeSocket(): Promise<void> {
    const inEngine = (path: string) => join(this.#engineFolder, path);
    await rename(inEngine(join(SCRATCH_FOLDER, SOCKET)), inEngine(SOCKET_FILE));
  }

  #calm(child: ChildProcess): void {
    if (child.exitCode === null && child.signalCode === null) this.#backoffMs = 100;
  }

  #startAgain(start: number): void {
    if (!this.#isWanted || start !== this.#start) return;
    this.#running = undefined;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.want(this.#isWanted), this.#backoffMs);
    this.#again.unref();
    this.#backoffMs = Math.min(this.#backoffMs * 2, MAX_BACKOFF_MS);
  }

  #send(child: ChildProcess, { settings, ...statement }: AnalystStatement): Promise<IncomingMessage> {
    const body = JSON.stringify({ ...statement, settings: [...settings] } satisfies WireStatement);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // Relative, because the path of a unix socket may have about 100 characters only.
    const sent = request({ socketPath: SOCKET_FILE, method: "POST", agent: false }, resolve);
    sent.once("error", (error) => reject(notRunning(error)));
    sent.end(body);
    return inTime(promise, SILENT_MS, () => {
      child.kill("SIGKILL");
      const silent = new Error("it is silent");
      sent.destroy(silent);
      throw notRunning(silent);
    });
  }
}

/** ClickHouse's code for a statement that is not allowed here: QUERY_IS_PROHIBITED. */
export const ANALYSTS_OFF = 392;

/** Resolves with the line `ready`; rejects with the last words of a process that ends before. */
function readinessOf(child: ChildProcess): Promise<void> {
  let lastWords = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-2000);
  });
  return new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(reasonIn(lastWords))));
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      if (said.length <= READY.length) said += chunk.toString();
      if (said.startsWith(`${READY}\n`)) resolve();
    });
  });
}

/** The line with the error, where Node has written one; else the last. */
function reasonIn(words: string): string {
  const lines = words.trim().split("\n");
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? "";
}

const notRunning = (error: unknown): EngineError => {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `the process of analysts' statements does not run now (${reason.slice(0, 300)}): try again`;
  return exception(NOT_RUNNING, message);
};
/** ClickHouse's NETWORK_ERROR, which its clients take for one that may pass. */
const NOT_RUNNING = 210;

async function errorOf(answer: IncomingMessage): Promise<EngineError> {
  let said = "";
  for await (const chunk of answer) {
    said += (chunk as Buffer).toString();
    if (said.length > MOST_ERROR_BYTES) return notRunning(new Error("its error is too long"));
  }
  try {
    const { code, message } = JSON.parse(said) as WireError;
    return new EngineError(Number(code), String(message));
  } catch (error) {
    return notRunning(error);
  }
}
