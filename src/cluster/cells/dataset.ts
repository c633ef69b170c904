/**
 * The dataset: what an installation keeps in Redis. It has an id, which each cell's folder knows, so that an emptied or foreign
 * Redis is refused; it is made once, by `createDataset`, from the folder of one gateway. Its term is the id of the Redis
 * process: after a restart or a failover cells say first what they know.
 */
import { randomBytes } from "node:crypto";
import { systemClock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { ANY_TIME, type Expected, expectedByMachine, MACHINES_MS } from "./clock/shared-clock.ts";
import { FORMATS, type Formats } from "./formats.ts";
import { DATASET_KEY, KEY_PREFIX } from "./keys.ts";
import { joinDataset, membershipOf } from "./membership/membership.ts";
import type { RedisLink, RedisValue } from "./redis.ts";
import { REQUIRED_SETTINGS } from "./required-settings.ts";
import { SCRIPTS } from "./scripts.ts";

/** Rows of one script while a dataset is made: some milliseconds of Redis. */
const FILL_ROWS = 500;
const FILL_BYTES = 1024 * 1024;
/** For replicas to have what was written so far. */
const REPLICAS_MS = 2000;

export interface DatasetRow {
  readonly table: string;
  /** The key as JSON. */
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** How a cell stands to the dataset on one connection. */
export interface Entered {
  /** Id of the Redis process. */
  readonly term: string;
  readonly life: string;
  /** Version of the documents now. */
  readonly version: number;
  /** In which cells write now. */
  readonly format: number;
}

export const datasetId = (): string => randomBytes(12).toString("hex");

/** Who fills a dataset before cells may use it: no cell has such a name. */
export const FILLER = ":upload";

/**
 * Makes the dataset of an empty Redis of rows alone. @returns false where there is one already: nothing is changed then
 * @throws Error of Redis; a dataset that was not finished is of no use to anybody: `clearUnfinished`
 */
export async function createDataset(
  link: RedisLink,
  id: string,
  rows: Iterable<DatasetRow>,
): Promise<boolean> {
  if (!(await beginDataset(link, id))) return false;
  await fillDataset(link, id, rows);
  await openDataset(link, id);
  return true;
}

/** @returns false where there is one already */
export const beginDataset = async (link: RedisLink, id: string): Promise<boolean> =>
  (await link.run(SCRIPTS.create, DATASET_KEY, id, FILLER, FORMATS.newest)) === 1;

/** @returns how many rows there were */
export async function fillDataset(link: RedisLink, id: string, rows: Iterable<DatasetRow>): Promise<number> {
  let batch: (string | Buffer)[] = [];
  let bytes = 0;
  let count = 0;
  const send = async () => {
    if (batch.length > 0) await link.run(SCRIPTS.fill, DATASET_KEY, id, ...batch);
    batch = [];
    bytes = 0;
  };
  for (const row of rows) {
    batch.push(row.table, row.text, Buffer.from(row.bytes));
    bytes += row.bytes.length;
    count++;
    if (batch.length >= FILL_ROWS * 3 || bytes > FILL_BYTES) await send();
  }
  await send();
  return count;
}

/** Cells may use it from now on. @param lanes those that filled it */
export async function openDataset(link: RedisLink, id: string, lanes: readonly string[] = []): Promise<void> {
  await link.run(SCRIPTS.open, DATASET_KEY, id, ...lanes);
}

/** What Redis holds: a dataset, one that was not finished, or undefined. */
export async function datasetIn(
  link: RedisLink,
): Promise<{ readonly id: string; readonly isFinished: boolean } | undefined> {
  const [id, filling] = (await link.call("HMGET", DATASET_KEY, "id", "filling")) as (Buffer | null)[];
  if (id === null || id === undefined) return undefined;
  return { id: String(id), isFinished: filling === null };
}

/** Removes a dataset that was not finished; its upload must not run any more. */
export async function clearUnfinished(link: RedisLink): Promise<void> {
  let cursor = "0";
  do {
    const found = await datasetIn(link);
    if (found === undefined || found.isFinished) return;
    const [next, keys] = (await link.call("SCAN", cursor, "MATCH", `${KEY_PREFIX}*`, "COUNT", 1000)) as [
      Buffer,
      Buffer[],
    ];
    const others = keys.filter((key) => String(key) !== DATASET_KEY);
    if (others.length > 0) await link.call("UNLINK", ...others);
    cursor = String(next);
  } while (cursor !== "0");
  await link.call("DEL", DATASET_KEY);
}

export interface Entering {
  readonly datasetId: string;
  readonly cell: string;
  /** Default: it begins one. */
  readonly life?: string;
  /** Default: those of this release. */
  readonly formats?: Formats | undefined;
  /** That must have what a reply says. Default: 0. */
  readonly replicas?: number | undefined;
  /** Steady time that the script may find; see `SharedClock.expected`. Default: any. */
  readonly expected?: Expected;
}

/** Goes on with a life on a new connection, or begins one. @throws Error where the life is over */
export async function enterDataset(link: RedisLink, entering: Entering): Promise<Entered> {
  const { datasetId, cell, life: ownLife = "", formats = FORMATS, replicas = 0 } = entering;
  const { oldest, newest } = formats;
  const args = [
    datasetId,
    cell,
    ownLife,
    oldest,
    newest,
    replicas,
    ...(entering.expected ?? ANY_TIME),
  ] as const;
  const answer = await link.run(SCRIPTS.enter, DATASET_KEY, ...args);
  const [term = "", life = "", version, format] = (answer as Buffer[]).map(String);
  return { term, life, version: Number(version), format: Number(format) };
}

/**
 * The dataset and the folders of its cells were restored from one backup, in which a folder may be somewhat older: each cell may start
 * on such a folder once. Call before any cell starts. @throws Error of Redis
 */
export async function noteRestored(link: RedisLink, id: string): Promise<void> {
  await link.run(SCRIPTS.restored, DATASET_KEY, id);
}

/** A cell may not be retired yet. */
export class StillAlive extends Error {}

/**
 * @param expected of Redis's clock. Default: what this machine's clock says; then a longer silence is asked for where no cell goes by that clock
 * @returns false where the cell is not known. @throws StillAlive where it gave a sign of life within `silentMs`; Error where Redis's clock is
 * not as expected: by one that was set ahead each cell would have been silent
 */
export async function retireCell(
  link: RedisLink,
  id: string,
  cell: string,
  silentMs: number,
  expected?: Expected,
): Promise<boolean> {
  const [least, most] = expected ?? expectedByMachine(systemClock);
  const args = [id, cell, silentMs, least, most, expected === undefined ? MACHINES_MS : 0] as const;
  const answer = await link.run(SCRIPTS.retire, DATASET_KEY, ...args);
  if (answer === -1) throw new StillAlive(`cell ${cell} is alive, or was until less than ${silentMs} ms ago`);
  return answer === 1;
}

/** Redis has settings with which it would lose what it acknowledged. */
export class UnsafeSettings extends Error {}

/**
 * Refuses a Redis whose settings would lose what it acknowledged.
 * Source: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/
 * @throws UnsafeSettings with a line for the operator that names the setting
 */
export async function assertSettings(link: RedisLink): Promise<void> {
  const settings = await settingsOf(link);
  for (const [name, value] of Object.entries(REQUIRED_SETTINGS)) {
    const found = settings.get(name);
    if (found !== value)
      throw new UnsafeSettings(
        `Redis has ${name} ${found ?? "unknown"}: set it to ${value}, or money could be lost`,
      );
  }
}

/**
 * Refuses a Redis that lacks replicas: nothing that is written to it would count.
 * @throws Error with a line for the operator
 */
export async function assertReplicas(link: RedisLink, replicas: number): Promise<void> {
  if (replicas === 0) return;
  const found = Number(await link.call("WAIT", replicas, REPLICAS_MS));
  if (found < replicas)
    throw new Error(
      `REDIS_REPLICAS: ${replicas} must have each write, and Redis has ${found} that follow it: start them first`,
    );
}

async function settingsOf(link: RedisLink): Promise<Map<string, string>> {
  const asked = Object.keys(REQUIRED_SETTINGS);
  const answers = await Promise.all(asked.map((name) => link.call("CONFIG", "GET", name))).catch(
    (error: Error) => {
      if (error.name !== "ReplyError") throw error;
      throw new Error(
        `Redis does not tell its settings (${error.message.trim()}): allow this user CONFIG GET, so that a start can check them`,
      );
    },
  );
  const texts = (answer: RedisValue) => (Array.isArray(answer) ? answer.map(String) : []);
  return new Map(answers.map((answer) => texts(answer) as [string, string]));
}

/**
 * The dataset that a cell's folder belongs to. A new folder joins the one that Redis holds.
 * @param isNew whether the folder holds nothing yet
 * @throws Error with a line for the operator
 */
export async function datasetToJoin(local: Store, link: RedisLink, isNew: boolean): Promise<string> {
  const mine = membershipOf(local);
  const found = await datasetIn(link);
  if (found === undefined && mine === undefined)
    throw new Error("this Redis holds no installation: `weir cells init` makes one from a folder");
  if (found === undefined)
    throw new Error(
      "this Redis holds no installation, and the data folder belongs to one: give the Redis back that it had",
    );
  if (!found.isFinished)
    throw new Error(
      "the installation in this Redis is not finished: run `weir cells init` again on the folder that it is made from",
    );
  if (mine !== undefined && mine !== found.id)
    throw new Error("this Redis holds another installation than the one that the data folder belongs to");
  if (mine !== undefined) return mine;
  if (!isNew) throw new Error("the data folder holds a gateway of its own: start a cell on an empty folder");
  await joinDataset(local, found.id);
  return found.id;
}
