/**
 * Makes the dataset from the folder of one gateway: begun, filled, and opened when everything is in it. Killed at any point, it is begun
 * again from the same folder; the folder belongs to the dataset before any cell can use it.
 */
import type { Store } from "../../../store/store.ts";
import {
  beginDataset,
  clearUnfinished,
  type DatasetRow,
  datasetId,
  datasetIn,
  FILLER,
  fillDataset,
  openDataset,
} from "../dataset/dataset.ts";
import { Blobs, type Operation, Session } from "../exchange/exchange.ts";
import { joinDataset, membershipOf, noteUpload, uploadOf } from "../membership/membership.ts";
import type { RedisLink } from "../redis/redis.ts";

/** One exchange of an upload. */
export interface UploadStep {
  readonly operations: readonly Operation[];
  readonly blobs?: Blobs;
}

/** What a dataset begins with. */
export interface Uploaded {
  readonly rows: Iterable<DatasetRow>;
  readonly steps: Iterable<UploadStep>;
}

export interface UploadOptions {
  readonly link: RedisLink;
  /** The folder, which no gateway uses meanwhile. */
  readonly local: Store;
  readonly content: Uploaded;
  /** A dataset that another folder began, and did not finish, is removed. */
  readonly discards: boolean;
}

const LANE = "upload";

/**
 * @returns how many rows the dataset has; undefined where it was finished before, from this folder
 * @throws Error with a line for the operator
 */
export async function uploadFolder({
  link,
  local,
  content,
  discards,
}: UploadOptions): Promise<number | undefined> {
  const found = await datasetIn(link);
  const begun = uploadOf(local);
  if (found?.isFinished === true) {
    if (found.id !== membershipOf(local))
      throw new Error(
        "this Redis holds an installation already: start a cell on an empty data folder, and it joins it",
      );
    await noteUpload(local, undefined);
    return undefined;
  }
  if (membershipOf(local) !== undefined && begun === undefined)
    throw new Error(
      "the data folder is that of a cell, and its installation's balances are in the Redis that it had: give that back",
    );
  if (found !== undefined) {
    if (found.id !== begun && !discards)
      throw new Error(
        "another folder began an installation in this Redis and did not finish: run `weir cells init` on that folder again, or here with --discard if nobody needs it",
      );
    await clearUnfinished(link);
  }
  const id = datasetId();
  await noteUpload(local, id);
  if (!(await beginDataset(link, id)))
    throw new Error("another folder began an installation in this Redis at the same time");
  const rows = await fillDataset(link, id, content.rows);
  await runSteps(link, id, content.steps);
  // Before anybody else can change a row, this folder cannot go on alone.
  await joinDataset(local, id);
  await openDataset(link, id, [LANE]);
  await noteUpload(local, undefined);
  return rows;
}

async function runSteps(link: RedisLink, id: string, steps: Iterable<UploadStep>): Promise<void> {
  const session = new Session({ link, datasetId: id, cell: FILLER, onEnd() {} });
  await session.start();
  const lane = session.lane(LANE);
  try {
    for (const { operations, blobs = new Blobs() } of steps) await lane.send(operations, blobs);
  } finally {
    session.close();
  }
}
