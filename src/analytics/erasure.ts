/**
 * Removes what is personal from the analytics tables: an org's payloads, the columns that tell of its end users and its sums by
 * tag, or payloads older than an org keeps them. ClickHouse rewrites the parts in the background and keeps the old ones for a while; a removal is
 * over when no part of before is left on the disk. Other sums, costs and counters stay.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import { fail } from "../base/errors.ts";
import type { ClickHouse } from "./clickhouse/client.ts";
import { localOf } from "./clickhouse/cluster.ts";
import { USAGE_TAGS } from "./clickhouse/rollups.ts";
import { quoted } from "./statements/literal.ts";

export interface AnalyticsErasureDeps {
  readonly clickhouse: Pick<ClickHouse, "rows" | "command">;
  /** Resolves true once every record made so far is in ClickHouse. */
  readonly flush: (withinMs: number) => Promise<boolean>;
  readonly clock: Clock;
}

export interface PayloadRule {
  readonly orgId: string;
  /** Payloads of earlier calls go; milliseconds since 1970. */
  readonly beforeMs: number;
}

export interface AnalyticsErasure {
  /**
   * May be called again until nothing is left, also by another process.
   * @returns whether more is left: ClickHouse is still at it
   * @throws WeirError `analytics_unavailable`
   */
  erase(orgId: string): Promise<boolean>;
  /** Removes payloads by rules, at most {@link MOST_RULES} of them. @returns whether more is left */
  removePayloads(rules: readonly PayloadRule[]): Promise<boolean>;
  /** Orgs that have payloads, with the time of the oldest; a few thousand at most. */
  oldestPayloads(): Promise<PayloadRule[]>;
}

const FLUSH_MS = 10_000;
/** One call waits this long for ClickHouse; then the job looks again later. */
const WAIT_MS = 20_000;
const LOOK_MS = 250;
const MOST_RULES = 1000;
/** All rows of the org go; of `requests` only columns. */
const CLEARED = ["payloads", USAGE_TAGS.table];
const TABLES = [...CLEARED, "requests"];

/** Columns of `requests` that tell of a person, with what they become. */
const PERSONAL: Readonly<Record<string, { readonly blank: string; readonly isLeft: string }>> = {
  user_hash: { blank: "''", isLeft: "user_hash != ''" },
  session_hash: { blank: "''", isLeft: "session_hash != ''" },
  user_agent: { blank: "''", isLeft: "user_agent != ''" },
  client_ip_prefix: { blank: "''", isLeft: "client_ip_prefix != ''" },
  route_options: { blank: "''", isLeft: "route_options != ''" },
  tags: { blank: "map()", isLeft: "notEmpty(tags)" },
  payload_state: {
    blank: "if(payload_state = 'available', 'erased', payload_state)",
    isLeft: "payload_state = 'available'",
  },
  error_message: { blank: "''", isLeft: "error_message != ''" },
  error_details: { blank: "''", isLeft: "error_details != ''" },
  // Providers repeat parts of a prompt in their errors.
  "attempt_rows.upstream_message": {
    blank: "arrayMap(text -> '', `attempt_rows.upstream_message`)",
    isLeft: "arrayExists(text -> text != '', `attempt_rows.upstream_message`)",
  },
};

export function analyticsErasure({ clickhouse, flush, clock }: AnalyticsErasureDeps): AnalyticsErasure {
  const count = (table: string, where: string) => countOf(clickhouse, table, where);

  /** Statements are started once: while one is under way, the rows that it changes are still counted. */
  async function change(table: string, statement: string, where: string): Promise<void> {
    if ((await count(table, where)) === 0) return;
    if ((await unfinished(clickhouse, [table])) > 0) return;
    await clickhouse.command(`ALTER TABLE ${table} ${statement} WHERE ${where}`);
  }

  async function settled(tables: readonly string[], isDone: () => Promise<boolean>): Promise<boolean> {
    const end = clock.monotonic() + WAIT_MS;
    for (;;) {
      if ((await unfinished(clickhouse, tables)) === 0 && (await isDone())) break;
      if (clock.monotonic() > end) return false;
      await sleep(LOOK_MS);
    }
    return await partsGone(clickhouse, tables, () => clock.monotonic() > end);
  }

  return {
    async erase(orgId) {
      if (!(await flush(FLUSH_MS))) {
        throw fail("analytics_unavailable", "Records of calls are still on their way to ClickHouse.");
      }
      const org = `org_id = ${quoted(orgId)}`;
      const columns = Object.entries(PERSONAL);
      const personal = `${org} AND (${columns.map(([, { isLeft }]) => isLeft).join(" OR ")})`;
      const blanks = columns.map(([name, { blank }]) => `\`${name}\` = ${blank}`).join(", ");
      for (const table of CLEARED) await change(table, "DELETE", org);
      await change("requests", `UPDATE ${blanks}`, personal);
      const isDone = async () => {
        for (const table of CLEARED) if ((await count(table, org)) > 0) return false;
        return (await count("requests", personal)) === 0;
      };
      return !(await settled(TABLES, isDone));
    },

    async removePayloads(rules) {
      if (rules.length === 0) return false;
      const where = rules
        .slice(0, MOST_RULES)
        .map(
          ({ orgId, beforeMs }) =>
            `(org_id = ${quoted(orgId)} AND ts < fromUnixTimestamp64Milli(${Math.floor(beforeMs)}))`,
        )
        .join(" OR ");
      await change("payloads", "DELETE", where);
      const isDone = async () => (await count("payloads", where)) === 0;
      return !(await settled(["payloads"], isDone)) || rules.length > MOST_RULES;
    },

    async oldestPayloads() {
      const rows = await clickhouse.rows<{ org: string; ms: number }>(
        "SELECT org_id AS org, toUnixTimestamp64Milli(min(ts)) AS ms FROM payloads GROUP BY org_id LIMIT 10000",
      );
      return rows.map(({ org, ms }) => ({ orgId: org, beforeMs: ms }));
    },
  };
}

/** Also the names that the tables with the rows have on a cluster. */
const namesOf = (tables: readonly string[]): string =>
  [...tables, ...tables.map(localOf)].map(quoted).join(", ");

async function countOf(clickhouse: Pick<ClickHouse, "rows">, table: string, where: string): Promise<number> {
  const [row] = await clickhouse.rows<{ n: number }>(`SELECT count() AS n FROM ${table} WHERE ${where}`);
  return row?.n ?? 0;
}

/** Condition over the tables of `system` that describe what these have. */
const ofTables = (tables: readonly string[]): string =>
  `database = currentDatabase() AND table IN (${namesOf(tables)})`;

const unfinished = (clickhouse: Pick<ClickHouse, "rows">, tables: readonly string[]): Promise<number> =>
  countOf(clickhouse, "system.mutations", `${ofTables(tables)} AND NOT is_done`);

/**
 * Parts that a rewrite replaced stay for minutes, in case of a power failure. They are let go at once, and waited for: those of
 * merges since then do not count. Where it is not over in time, or the process is killed meanwhile, the tables keep that setting
 * until the next call ends it.
 */
async function partsGone(
  clickhouse: Pick<ClickHouse, "rows" | "command">,
  tables: readonly string[],
  isLate: () => boolean,
): Promise<boolean> {
  const [now] = await clickhouse.rows<{ s: number }>("SELECT toUnixTimestamp(now()) AS s");
  const replaced = `${ofTables(tables)} AND NOT active AND toUnixTimestamp(remove_time) <= ${now?.s ?? 0}`;
  const left = () => countOf(clickhouse, "system.parts", replaced);
  const each = async (statement: (table: string) => string, these = tables) => {
    for (const table of these) await clickhouse.command(statement(table));
  };
  const reset = async () => {
    const changed = await clickhouse.rows<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN (${namesOf(tables)})
       AND position(engine_full, 'old_parts_lifetime') > 0`,
    );
    const names = changed.map(({ name }) => name);
    await each((table) => `ALTER TABLE ${table} RESET SETTING old_parts_lifetime`, names);
  };
  if ((await left()) === 0) {
    await reset();
    return true;
  }
  await each((table) => `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1`);
  while ((await left()) > 0) {
    if (isLate()) return false;
    // It looks by itself every half minute; an older server does not know the statement, and is waited for.
    await each((table) => `SYSTEM START CLEANUP ${table}`).catch(() => {});
    await sleep(LOOK_MS);
  }
  await reset();
  return true;
}
