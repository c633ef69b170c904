/**
 * What a copy of the analytics tables beside a copy of the store needs: that no rows go from one to the other meanwhile, and that
 * the tables' files stay. ClickHouse freezes a table by a hard link to each file of its parts, which are never changed in place.
 */
import type { ClickHouse } from "../clickhouse/client.ts";
import type { Spool } from "./spool.ts";

interface AnalyticsCopyDeps {
  readonly clickhouse: Pick<ClickHouse, "rows" | "command">;
  readonly spools: readonly Pick<Spool, "hold">[];
  readonly isEmbedded: boolean;
}

export interface AnalyticsCopy {
  /** Whether the tables are files of this data folder. */
  readonly isEmbedded: boolean;
  /**
   * Inserts nothing until the returned function is called: each row is then either in ClickHouse or in the store.
   * @throws Error if a batch under way takes longer than `withinMs`
   */
  hold(withinMs: number): Promise<() => void>;
  /**
   * Links the files of all tables in the engine's folder `shadow/<name>`, as they are now.
   * @param name letters, digits and `_`. @throws WeirError `analytics_unavailable`
   */
  freeze(name: string): Promise<void>;
}

export const analyticsCopy = ({ clickhouse, spools, isEmbedded }: AnalyticsCopyDeps): AnalyticsCopy => ({
  isEmbedded,
  async hold(withinMs) {
    const held = await Promise.allSettled(spools.map((spool) => spool.hold(withinMs)));
    const release = () => {
      for (const one of held) if (one.status === "fulfilled") one.value();
    };
    const failed = held.find((one) => one.status === "rejected");
    if (failed === undefined) return release;
    release();
    throw failed.reason;
  },
  async freeze(name) {
    if (!/^\w{1,60}$/.test(name)) throw new RangeError("not a name for a frozen copy");
    const tables = await clickhouse.rows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') ORDER BY name",
    );
    for (const table of tables)
      await clickhouse.command(`ALTER TABLE \`${table.name}\` FREEZE WITH NAME '${name}'`);
  },
});
