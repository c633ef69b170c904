/** An engine that is the shard of a cluster `alone`, and both shards of a cluster `two`; runs statements that its parent sends. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Session } from "chdb";

const [folder = ""] = process.argv.slice(2);
const SHARD = "<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>";
mkdirSync(folder, { recursive: true });
const config = join(folder, "config.xml");
writeFileSync(
  config,
  `<clickhouse><tcp_port>9000</tcp_port><remote_servers><alone>${SHARD}</alone><two>${SHARD}${SHARD}</two></remote_servers></clickhouse>`,
);
const session = new Session(join(folder, "data"), { connectionArgs: [`--config-file=${config}`] });
process.on("message", async (sql: string) => {
  try {
    const result = await session.queryAsync(sql, { format: "JSONEachRow" });
    process.send?.({ lines: Buffer.from(result.bytes()).toString() });
  } catch (error) {
    process.send?.({ failed: String(error) });
  }
});
process.on("disconnect", () => process.exit());
process.send?.({ lines: "" });
