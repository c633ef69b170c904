/** Keeps the database's users as the rows are: at the start, at each change of a row or an org, and each minute. */

import pLimit from "p-limit";
import { fail } from "../../base/errors.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import { type AnalystsSetting, type Confinement, probeConfinement } from "../engine/confinement.ts";
import type { Engine, EngineLog, ServerAddress } from "../engine/engine.ts";
import { reconcile } from "./analyst-server.ts";
import type { AnalystRow, Analysts } from "./analysts.ts";

export interface AnalystAccessOptions {
  readonly analysts: Analysts;
  readonly clickhouse: ClickHouse;
  /** Undefined: a server. */
  readonly engine: Engine | undefined;
  readonly server: (ServerAddress & { readonly database: string }) | undefined;
  /** How statements run in the embedded engine. */
  readonly confine: AnalystsSetting;
  /** The server's cluster. With one, analysts are not let in: a policy of rows on one server does not bind the others. */
  readonly clickhouseCluster?: string | undefined;
  /** Default: all are. */
  readonly isOpen?: (orgId: string) => boolean;
  readonly watchOrgs?: (changed: () => void) => void;
  readonly log: EngineLog;
}

export interface AnalystAccess {
  readonly database: string;
  /** Resolves once the database lets in those of the rows, and nobody else. @throws where a server refuses */
  apply(): Promise<void>;
  /** How statements are confined in the embedded engine, as found out at the start; undefined: a server. */
  confinement(): Promise<Confinement | undefined>;
  /** Where clients connect. @param withinMs waits so long for the engine @throws Error where it does not start in time */
  url(withinMs?: number): Promise<string>;
  stop(): void;
}

const EVERY_MS = 60_000;
const START_MS = 8000;

export function openAnalystAccess(options: AnalystAccessOptions): AnalystAccess {
  const { analysts, clickhouse, engine, server, log, isOpen = () => true } = options;
  const database = server?.database ?? "weir";
  const confinement = engine === undefined ? Promise.resolve(undefined) : probeConfinement(options.confine);
  let known = "";
  const made = new Set<string>();
  // One at a time, so that an older list never follows a newer one.
  const inTurn = pLimit(1);

  async function put(): Promise<void> {
    const rows: readonly AnalystRow[] = analysts.live(isOpen);
    if (engine !== undefined) {
      engine.setAnalysts(rows.map((row) => ({ ...row, orgId: row.orgId === "" ? null : row.orgId })));
      return;
    }
    if (options.clickhouseCluster !== undefined) {
      if (rows.length === 0) return;
      throw fail("analytics_unavailable", "Analysts' users cannot be made on a cluster of ClickHouse.");
    }
    const now = JSON.stringify(rows.map(({ id }) => id));
    if (now === known) return;
    await reconcile(clickhouse, database, rows, made);
    known = now;
  }

  const apply = () => inTurn(put);
  const applyLater = () => {
    apply().catch((error: unknown) =>
      log.warn({ error: String(error) }, "analysts' users could not be updated"),
    );
  };
  applyLater();
  analysts.watch(applyLater);
  options.watchOrgs?.(applyLater);
  const timer = setInterval(applyLater, EVERY_MS);
  timer.unref();
  return {
    database,
    apply,
    confinement: () => confinement,
    url: async (withinMs = START_MS) =>
      engine === undefined ? (server?.url ?? "") : (await engine.address(withinMs)).url,
    stop: () => clearInterval(timer),
  };
}
