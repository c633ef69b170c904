/** A connection to Redis that is lost. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { connectRedis } from "../../../../../src/cluster/cells/redis/redis.ts";
import { missingRedis, startRedis } from "../../../../support/redis-server.ts";

test.skipIf(missingRedis() !== undefined)(
  "a command whose reply was lost fails, and is not sent again",
  async () => {
    const redis = await startRedis();
    const link = connectRedis({ url: redis.url, log: { warn() {} } });
    const lost = async () => {
      await link.ready(5000);
      return expect(link.call("XREAD", "BLOCK", 60_000, "STREAMS", "nothing", "0-0")).rejects.toThrow();
    };
    const killed = lost();
    await link.ready(5000);
    await redis.kill();
    await redis.start();
    await killed;
    const renewed = lost();
    link.renew();
    await renewed;
    link.close();
    await redis.stop();
  },
);

test.skipIf(missingRedis() !== undefined)("an error of a command does not carry what was sent", async () => {
  const redis = await startRedis();
  const link = connectRedis({ url: redis.url, log: { warn() {} } });
  await link.ready(5000);
  const error: unknown = await link.call("HSET", "key", "of a customer").catch((reason) => reason);
  expect(String(error)).toContain("wrong number of arguments");
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("customer");
  link.close();
  await redis.stop();
});
