/** Replicas of Redis: what none of them lacks survives a failover. */
import type { RedisLink } from "../redis/redis.ts";

/**
 * Whether so many replicas have, within the time, all that Redis had written at this call. @throws Error of the connection
 * Source: https://redis.io/docs/latest/commands/wait/
 */
export async function replicasHave(link: RedisLink, replicas: number, withinMs: number): Promise<boolean> {
  if (replicas === 0) return true;
  // WAIT goes by what was written when its connection last asked something: a read that was blocked asked long before its answer.
  const asked = link.call("TIME");
  const [, found] = await Promise.all([asked, link.call("WAIT", replicas, withinMs)]);
  return Number(found) >= replicas;
}
