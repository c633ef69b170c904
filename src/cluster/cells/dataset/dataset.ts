/**
 * The dataset: what an installation keeps in Redis. It has an id, which each cell's folder knows, so that an emptied or foreign
 * Redis is refused; it is made once, by `uploadFolder`, from the folder of one gateway. Its term is the id of the Redis
 * process: after a restart or a failover cells say first what they know.
 */
import { randomBytes } from "node:crypto";
import { ANY_TIME, type Expected } from "../clock/shared-clock.ts";
import { DATASET_KEY, KEY_PREFIX } from "../redis/keys.ts";
import { pages, type RedisLink } from "../redis/redis.ts";
import { SCRIPTS } from "../scripts/scripts.ts";
import { FORMATS, type Formats } from "./formats.ts";

/** Rows of one script while a dataset is made: some milliseconds of Redis. */
const FILL_ROWS = 500;
const FILL_BYTES = 1024 * 1024;

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
 * @returns false where there is one already: nothing is changed then
 * @throws Error of Redis; a dataset that was not finished is of no use to anybody: `clearUnfinished`
 */
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
  const scan = (cursor: string) => link.call("SCAN", cursor, "MATCH", `${KEY_PREFIX}*`, "COUNT", 1000);
  for await (const keys of pages<Buffer>(scan)) {
    const found = await datasetIn(link);
    if (found === undefined || found.isFinished) return;
    const others = keys.filter((key) => String(key) !== DATASET_KEY);
    if (others.length > 0) await link.call("UNLINK", ...others);
  }
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
  const { datasetId, cell, life: ownLife = "", replicas = 0, expected = ANY_TIME } = entering;
  const { oldest, newest } = entering.formats ?? FORMATS;
  const args = [datasetId, cell, ownLife, oldest, newest, replicas, ...expected] as const;
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
