/** Short conversations of the supervisor with the Redis server of its folder: is it there, which process is it, how is it set. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onRedis, type RedisLink } from "../cells/redis/redis.ts";
import { isAlive } from "./folder-socket.ts";
import { REDIS_SOCKET } from "./redis-server.ts";

/** A socket's path may have 104 bytes (macOS) or 108 (Linux), its end included. */
const MAX_SOCKET_BYTES = 100;

/** Where the socket of a server's folder is reached. */
export interface RedisSocket {
  /** Absolute, and short enough for a socket. */
  readonly path: string;
  /** Call once nobody uses the path any more. */
  release(): void;
}

/** The socket's path, or one through a short link in a folder that only this user can enter. */
export function redisSocketIn(folder: string): RedisSocket {
  const path = join(folder, REDIS_SOCKET);
  if (Buffer.byteLength(path) <= MAX_SOCKET_BYTES) return { path, release() {} };
  const shortcut = mkdtempSync(join(tmpdir(), "weir-"));
  symlinkSync(folder, join(shortcut, "redis"));
  return {
    path: join(shortcut, "redis", REDIS_SOCKET),
    release: () => rmSync(shortcut, { recursive: true, force: true }),
  };
}

/** Undefined where no server listens, or `ask` is not answered in time. */
export async function askRedis<T>(
  folder: string,
  socket: string,
  withinMs: number,
  ask: (link: RedisLink) => Promise<T>,
): Promise<T | undefined> {
  if (!(await isAlive(folder, REDIS_SOCKET))) return undefined;
  const redis = { url: socket, log: { warn() {} }, timeoutMs: withinMs };
  return await onRedis(redis, withinMs, ask).catch(() => undefined);
}
