/** An older copy of what Redis holds, as a replica that lags has it: Redis starts again on it after a failover. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestRedis } from "../../../support/redis-server.ts";

const FILES = "appendonlydir";

/** @returns the folder of the copy; Redis must have nothing to write meanwhile, or the copy may end within a command */
export function saveRedis(redis: TestRedis): string {
  const copy = mkdtempSync(join(tmpdir(), "weir-redis-copy-"));
  cpSync(join(redis.folder, FILES), join(copy, FILES), { recursive: true });
  return copy;
}

/** Kills Redis and starts it on the copy, which is used up. */
export async function restoreRedis(redis: TestRedis, copy: string): Promise<void> {
  await redis.kill();
  rmSync(join(redis.folder, FILES), { recursive: true });
  cpSync(join(copy, FILES), join(redis.folder, FILES), { recursive: true });
  rmSync(copy, { recursive: true });
  await redis.start();
}
