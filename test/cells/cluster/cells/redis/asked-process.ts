/**
 * Asks the Redis at an address for its process id, in a process of its own: what Node trusts is read at its start. Arguments: address,
 * milliseconds for the connection. It writes nothing where there is none.
 */
import { connectRedis } from "../../../../../src/cluster/cells/redis/redis.ts";

const link = connectRedis({ url: process.argv[2] ?? "", log: { warn() {} } });
await link.ready(Number(process.argv[3])).then(
  async () => console.log(/process_id:\d+/.exec(String(await link.call("INFO", "server")))?.[0]),
  () => {},
);
link.close();
