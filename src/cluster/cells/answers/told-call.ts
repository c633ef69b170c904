/** Looks up what cells told of a call: see `told-calls.ts`, which tells it. */
import { DATASET_KEY } from "../redis/keys.ts";
import type { RedisLink } from "../redis/redis.ts";
import { SCRIPTS } from "../scripts/scripts.ts";

/** What that life of a cell told. */
export interface ToldBy {
  readonly cell: string;
  readonly life: number;
  readonly text: string;
}

/** Undefined: none told of it. @throws Error of Redis */
export async function toldCall(link: RedisLink, datasetId: string, id: string): Promise<ToldBy | undefined> {
  const [cell, life, text] = (await link.run(SCRIPTS.call, DATASET_KEY, datasetId, id)) as Buffer[];
  return text && { cell: String(cell), life: Number(life), text: String(text) };
}
