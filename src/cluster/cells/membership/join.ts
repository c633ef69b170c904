/** How a folder joins what Redis holds. Apart from `membership.ts`, which a gateway alone asks, too: it loads nothing of Redis. */
import type { Store } from "../../../store/store.ts";
import { datasetIn } from "../dataset/dataset.ts";
import type { RedisLink } from "../redis/redis.ts";
import { joinDataset, membershipOf } from "./membership.ts";

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
