/** A dataset of rows alone, where no folder is behind it. */
import {
  beginDataset,
  type DatasetRow,
  fillDataset,
  openDataset,
} from "../../../src/cluster/cells/dataset/dataset.ts";
import type { RedisLink } from "../../../src/cluster/cells/redis/redis.ts";

/** Makes the dataset of an empty Redis. */
export async function createDataset(
  link: RedisLink,
  id: string,
  rows: Iterable<DatasetRow> = [],
): Promise<void> {
  await beginDataset(link, id);
  await fillDataset(link, id, rows);
  await openDataset(link, id);
}
