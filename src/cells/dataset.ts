/**
 * The dataset: what an installation keeps in Redis. It has an id, which each cell's folder knows, so that an emptied or foreign
 * Redis is refused; it is made once, by `createDataset`, from the folder of one gateway. Its term is the id of the Redis
 * process: after a restart or a failover cells say first what they know.
 */
import { randomBytes } from "node:crypto";
import type { Store } from "../store/store.ts";
import { DATASET_KEY } from "./keys.ts";
import { joinDataset, membershipOf } from "./membership.ts";
import type { RedisLink, RedisValue } from "./redis.ts";
import { SCRIPTS } from "./scripts.ts";

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
  /** Of the documents, now. */
  readonly version: number;
}

export const datasetId = (): string => randomBytes(12).toString("hex");

/**
 * Makes the dataset of an empty Redis. @returns false where there is one already: nothing is changed then
 * @throws Error of Redis; a dataset that was not finished is of no use to anybody and must be deleted by hand
 */
export async function createDataset(
  link: RedisLink,
  id: string,
  rows: Iterable<DatasetRow>,
): Promise<boolean> {
  if ((await link.run(SCRIPTS.create, DATASET_KEY, id)) !== 1) return false;
  let batch: (string | Buffer)[] = [];
  let bytes = 0;
  const send = async () => {
    if (batch.length > 0) await link.run(SCRIPTS.fill, DATASET_KEY, id, ...batch);
    batch = [];
    bytes = 0;
  };
  for (const row of rows) {
    batch.push(row.table, row.text, Buffer.from(row.bytes));
    bytes += row.bytes.length;
    if (batch.length >= FILL_ROWS * 3 || bytes > FILL_BYTES) await send();
  }
  await send();
  await link.run(SCRIPTS.open, DATASET_KEY, id);
  return true;
}

/** Goes on with a life on a new connection, or begins one where it is "". @throws Error where the life is over */
export async function enterDataset(
  link: RedisLink,
  id: string,
  cell: string,
  ownLife: string,
): Promise<Entered> {
  const [term, life, version] = (await link.run(SCRIPTS.enter, DATASET_KEY, id, cell, ownLife)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  return { term: String(term), life: String(life), version: Number(String(version)) };
}

/** @returns false where the cell is not known. @throws Error where it gave a sign of life within `silentMs` */
export async function retireCell(
  link: RedisLink,
  id: string,
  cell: string,
  silentMs: number,
): Promise<boolean> {
  const answer = await link.run(SCRIPTS.retire, DATASET_KEY, id, cell, silentMs);
  if (answer === -1) throw new Error(`cell ${cell} is alive, or was until less than ${silentMs} ms ago`);
  return answer === 1;
}

/**
 * Refuses a Redis whose settings would lose what it acknowledged.
 * Source: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/
 * @throws Error with a line for the operator that names the setting
 */
export async function assertSettings(link: RedisLink): Promise<void> {
  const settings = await settingsOf(link);
  const wanted = { appendonly: "yes", appendfsync: "always", "maxmemory-policy": "noeviction" };
  for (const [name, value] of Object.entries(wanted)) {
    const found = settings.get(name);
    if (found !== value)
      throw new Error(`Redis has ${name} ${found ?? "unknown"}: set it to ${value}, or money could be lost`);
  }
}

async function settingsOf(link: RedisLink): Promise<Map<string, string>> {
  const asked = ["appendonly", "appendfsync", "maxmemory-policy"];
  const answers = await Promise.all(asked.map((name) => link.call("CONFIG", "GET", name)));
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
  const found = await link.call("HGET", DATASET_KEY, "id");
  if (found === null)
    throw new Error("this Redis holds no installation: `weir cells init` makes one from a folder");
  const theirs = String(found);
  if (mine !== undefined && mine !== theirs)
    throw new Error("this Redis holds another installation than the one that the data folder belongs to");
  if (mine !== undefined) return mine;
  if (!isNew) throw new Error("the data folder holds a gateway of its own: start a cell on an empty folder");
  await joinDataset(local, theirs);
  return theirs;
}
