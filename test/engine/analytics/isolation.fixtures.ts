/** Engines with the calls of one org, or of two, and what an analyst of the first is answered. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClickHouse, openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import type { AnalystsSetting } from "../../../src/analytics/engine/confinement.ts";
import { type Engine, startEngine } from "../../../src/analytics/engine/engine.ts";
import type { EngineUser } from "../../../src/analytics/engine/engine-analysts.ts";
import { asAllowed } from "../../support/analytics/confined.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

export const ANALYST = { username: "weir_analyst_a", password: "the password of an analyst" };
export const OPERATOR = { username: "weir_analyst_all", password: "the password of an operator" };
/** Stands in each text of the other org's rows, and in a file of the machine. */
export const CANARY = "canaryofanother";

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

export interface Side {
  /** The folder of the engine's data; what the engine opens by a relative path is here. */
  readonly folder: string;
  readonly engine: Engine;
  readonly clickhouse: ClickHouse;
  readonly analysts: readonly EngineUser[];
  /** Status and body of a statement as the analyst's; the URL's further parameters begin with `&`. */
  ask(sql: string, more?: string, user?: typeof ANALYST): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

/**
 * @param orgs whose rows are in the tables
 * @param confine default: confined where this system allows it
 */
export async function openSide(orgs: readonly string[], confine: AnalystsSetting = asAllowed): Promise<Side> {
  const folder = mkdtempSync(join(tmpdir(), "weir-isolation-"));
  const engine = startEngine(folder, { warn: () => {} }, { analysts: confine });
  const expiresAtMs = Date.parse("2099-01-01");
  const analysts: readonly EngineUser[] = [
    { username: ANALYST.username, digest: digestOf(ANALYST.password), orgId: "org_a", expiresAtMs },
    { username: OPERATOR.username, digest: digestOf(OPERATOR.password), orgId: null, expiresAtMs },
  ];
  engine.setAnalysts(analysts);
  const clickhouse = openClickHouse({ address: () => engine.address(LIMIT_MS), database: "weir" });
  for (const org of orgs) for (const sql of rowsOf(org)) await clickhouse.command(sql);
  const { url } = await engine.address(LIMIT_MS);
  return {
    folder,
    engine,
    clickhouse,
    analysts,
    async ask(sql, more = "", user = ANALYST) {
      const response = await fetch(`${url}/?${more.slice(1)}&default_format=TSV`, {
        method: "POST",
        body: sql,
        headers: { "x-clickhouse-user": user.username, "x-clickhouse-key": user.password },
      });
      return { status: response.status, text: await response.text() };
    },
    async close() {
      await clickhouse.close();
      await engine.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const TS = "toDateTime64('2026-11-01 00:00:00', 3, 'UTC') + number * 600";

/** 200 calls of each org, all in the same hours, with every table filled. */
function rowsOf(org: string): string[] {
  const word = org === "org_a" ? "plain" : CANARY;
  const id = org === "org_a" ? "A" : "B";
  const names =
    "request_id, ts, org_id, project_id, key_id, environment, model, provider, status, input_tokens, cost_micro, charged, user_agent, tags, duration_ms";
  const values = `concat('${id}', toString(number)), ${TS}, '${org}', 'prj_${word}', 'key_${word}', 'live', 'acme/model', 'acme', if(number % 7 = 0, 'error', 'ok'), number, number % 13, true, '${word}', map('team', '${word}'), 5`;
  const attempts =
    "attempt_rows.attempt, attempt_rows.ts, attempt_rows.provider, attempt_rows.endpoint_id, attempt_rows.pool_id, attempt_rows.key_hint, attempt_rows.outcome, attempt_rows.http_status, attempt_rows.error_class, attempt_rows.upstream_code, attempt_rows.upstream_message, attempt_rows.ttft_ms, attempt_rows.duration_ms, attempt_rows.output_tokens";
  const attempt = `[1], [${TS}], ['acme'], ['ep_${word}'], [''], [''], ['ok'], [200], [''], [''], ['${word}'], [1], [2], [3]`;
  return [
    `INSERT INTO requests (${names}, ${attempts}) SELECT ${values}, ${attempt} FROM numbers(200)`,
    `INSERT INTO payloads SELECT '${org}', ${TS}, concat('${id}', toString(number)), toDateTime('2099-01-01', 'UTC'), '${word}', '${word}' FROM numbers(50)`,
    `INSERT INTO shadow_runs (org_id, ts, request_id, policy) SELECT '${org}', ${TS}, concat('${id}', toString(number)), '${word}' FROM numbers(50)`,
    `INSERT INTO ledger SELECT '${org}', number + 1, 'topup', 5, 5 * number, ${TS}, '', '${word}', '${word}' FROM numbers(50)`,
  ];
}

/** A server that nobody may connect to. */
export async function openTrap(): Promise<{ port: number; connections: () => number; server: Server }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    connections: () => connections,
    server,
  };
}

/** A file with the canary, and a path at which none may appear. */
export function files(): { readable: string; written: string; isWritten: () => boolean; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "weir-canary-"));
  const readable = join(folder, "secret.csv");
  const written = join(folder, "written");
  writeFileSync(readable, `${CANARY}\n`);
  return {
    readable,
    written,
    isWritten: () => existsSync(written),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
