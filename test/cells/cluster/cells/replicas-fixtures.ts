/** A master and its replicas, which Sentinels may watch: Redis servers with a port. */
import { connectRedis } from "../../../../src/cluster/cells/redis/redis.ts";
import { freePort } from "../../../support/free-port.ts";
import { startRedis, type TestRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";

/** A new replica gets its copy at once. */
export const REPLICATED = ["--repl-diskless-sync-delay", "0"];

export interface Server extends TestRedis {
  readonly port: number;
}

/** One command to a server. */
export async function ask(
  { url }: Pick<TestRedis, "url">,
  command: string,
  ...args: string[]
): Promise<string> {
  const link = connectRedis({ url, log: { warn() {} } });
  try {
    await link.ready(10_000);
    return String(await link.call(command, ...args));
  } finally {
    link.close();
  }
}

/** Resolves once it has all that its master has. */
export async function replicaOf(master: number): Promise<Server> {
  const port = await freePort();
  const settings = [...REPLICATED, "--port", String(port), "--replicaof", `127.0.0.1 ${master}`];
  const replica = { ...(await startRedis(settings)), port };
  await follows(replica);
  return replica;
}

/** Resolves once the server is a replica that has all of its master. */
export const follows = (server: TestRedis) =>
  until(
    "the replica has all of its master",
    () => ask(server, "INFO", "replication"),
    (seen) => seen.includes("master_link_status:up"),
  );
