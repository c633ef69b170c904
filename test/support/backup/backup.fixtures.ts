/** Commands as somebody at the machine types them, load that remembers what was answered, and what a data folder then holds. */
import { copyFileSync, cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { LedgerAudit, MONEY_TABLES } from "../../../src/credits/ledger/audit.ts";
import { entryOf, type StoredEntry } from "../../../src/credits/ledger/entry.ts";
import { runCommandLine } from "../../../src/host/commands/command-line.ts";
import { inspect } from "../../../src/store/recovery/inspection.ts";
import { removeFolder, type TestGateway } from "../gateway.ts";
import { type SpawnedGateway, spawnGateway } from "../spawned-gateway.ts";
import { until } from "../wait.ts";

export interface Typed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function typed(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Typed> {
  let [out, err] = ["", ""];
  const code = await runCommandLine(words, {
    env,
    isTerminal: false,
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { code, out, err };
}

/** Variables of a gateway in this folder; without `url` one that is stopped. */
export const envOf = (folder: string, url?: string): NodeJS.ProcessEnv => ({
  PORT: url === undefined ? "1" : new URL(url).port,
  DATA_DIR: join(folder, "data"),
  CONFIG_DIR: join(import.meta.dirname, "../../../config"),
});

/** A new folder with a data folder restored from a backup, the gateway's configuration, and the keys, which are kept elsewhere. */
export async function restoredFrom(backup: string, original: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "weir-restored-"));
  expect(await typed(["restore", backup], envOf(folder))).toMatchObject({ code: 0, err: "" });
  cpSync(join(original, "config"), join(folder, "config"), { recursive: true });
  for (const name of ["first-key", "first-test-key"])
    copyFileSync(join(original, "data", name), join(folder, "data", name));
  return folder;
}

/** Calls from several clients at once until it is stopped. */
export function load({ chat }: TestGateway, clients = 4) {
  const answered: string[] = [];
  let isOn = true;
  const work = Array.from({ length: clients }, async () => {
    while (isOn) {
      const answer = await chat().catch(() => undefined);
      if (answer?.status === 200) answered.push(answer.headers.get("x-request-id") ?? "");
    }
  });
  return {
    answered: (): readonly string[] => [...answered],
    async stop() {
      isOn = false;
      await Promise.all(work);
    },
  };
}

/** Request ids of the charges in the ledger of a folder that no gateway uses; its audit must hold. */
export function chargesOf(dataDir: string): string[] {
  const audit = new LedgerAudit();
  const ids: string[] = [];
  const { findings } = inspect(dataDir, MONEY_TABLES, ({ table, key, value }) => {
    if (value === undefined) return;
    audit.see(table, key, value);
    if (table !== "ledger") return;
    const entry = entryOf((key as [string, number])[1], value as StoredEntry);
    if (entry.kind === "settle") ids.push(entry.requestId);
  });
  expect([...findings, ...audit.findings()]).toEqual([]);
  return ids.sort();
}

/** Rows of the embedded engine of a running gateway. */
export async function rowsOf<T>(dataDir: string, sql: string): Promise<T[]> {
  const { url, username, password } = JSON.parse(readFileSync(join(dataDir, "clickhouse.json"), "utf8"));
  const answer = await fetch(`${url}/?database=weir`, {
    method: "POST",
    headers: { "x-clickhouse-user": username, "x-clickhouse-key": password },
    body: `${sql} FORMAT JSONEachRow`,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** The request ids of all rows of a table, doubled ones twice. */
const idsIn = async (dataDir: string, table: string): Promise<string[]> =>
  (await rowsOf<{ id: string }>(dataDir, `SELECT request_id AS id FROM ${table} ORDER BY id`)).map(
    ({ id }) => id,
  );

async function outboxRows({ call }: TestGateway): Promise<number> {
  const { text } = await call("GET", "/metrics", { key: null });
  return Number(/^weir_outbox_rows (\d+)$/m.exec(text)?.[1]);
}

/**
 * Starts a gateway on a restored folder, lets its outbox drain, and stops it. Every charge of its ledger must then have one record,
 * one payload and one place in the sums, and no record may be without a charge.
 * @returns request ids of all charges
 */
export async function chargesOfStarted(folder: string): Promise<string[]> {
  const dataDir = join(folder, "data");
  const before = chargesOf(dataDir);
  let gateway: SpawnedGateway | undefined;
  try {
    gateway = await spawnGateway({ folder });
    const started = gateway;
    await until("the outbox is empty", async () => (await outboxRows(started)) === 0);
    expect(await idsIn(dataDir, "requests")).toEqual(before);
    expect(await idsIn(dataDir, "payloads")).toEqual(before);
    const sums = "SELECT toUInt32(sum(requests)) AS calls FROM usage_hourly";
    expect(await rowsOf(dataDir, sums)).toEqual([{ calls: before.length }]);
    expect((await gateway.chat()).status).toBe(200);
  } finally {
    await gateway?.kill("SIGTERM");
    await gateway?.simulator.close();
  }
  expect(chargesOf(dataDir)).toHaveLength(before.length + 1);
  removeFolder(folder);
  return before;
}
