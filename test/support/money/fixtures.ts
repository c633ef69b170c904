/** What a bookkeeper asks of a running gateway, over its own routes: the ledger in full, the records, what is held. */
import { strict as assert } from "node:assert";
import type { TestGateway } from "../gateway.ts";
import { until } from "../wait.ts";

export interface Entry {
  readonly seq: number;
  readonly kind: string;
  readonly amount_micro_usd: number;
  readonly request_id?: string;
}

export interface Row {
  readonly request_id: string;
  readonly key_id: string;
  readonly status: string;
  readonly error_code: string;
  readonly cost_micro: number;
  readonly byok: boolean;
  readonly usage_source: string;
}

type Readable = Pick<TestGateway, "call">;

/** Every page of a list, in the list's own order. */
async function walk<T>(gateway: Readable, path: string): Promise<T[]> {
  const all: T[] = [];
  for (let cursor = ""; ; ) {
    const page = await gateway.call("GET", `${path}?limit=500&cursor=${encodeURIComponent(cursor)}`);
    assert.equal(page.status, 200, page.text);
    all.push(...page.json.data);
    cursor = page.json.next_cursor;
    if (cursor === "") return all;
  }
}

/** Oldest first; numbered 1, 2, 3 … and its sum is the balance, or it throws. */
export async function auditedLedger(gateway: Readable): Promise<Entry[]> {
  const entries = (await walk<Entry>(gateway, "/v1/credits/ledger")).reverse();
  assert.deepEqual(
    entries.map((e) => e.seq),
    entries.map((_, i) => i + 1),
  );
  const { json } = await gateway.call("GET", "/v1/credits");
  assert.equal(
    json.available_micro_usd + json.held_micro_usd,
    entries.reduce((sum, e) => sum + e.amount_micro_usd, 0),
  );
  return entries;
}

/** Request id → what it was charged. Throws where an id stands in the ledger twice. */
export function chargesOf(entries: readonly Entry[]): Map<string, number> {
  const charges = new Map<string, number>();
  for (const { kind, request_id = "", amount_micro_usd } of entries) {
    if (kind !== "settle") continue;
    assert.ok(!charges.has(request_id), `${request_id} is charged twice`);
    assert.ok(amount_micro_usd < 0, `${request_id} was given ${amount_micro_usd}`);
    charges.set(request_id, -amount_micro_usd);
  }
  return charges;
}

export const sum = (amounts: Iterable<number>): number => {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
};

/** All records, as ClickHouse has them. Throws where a request stands in it twice. */
export async function recordsOf(gateway: Readable): Promise<Map<string, Row>> {
  const rows = await walk<Row>(gateway, "/v1/requests");
  const records = new Map(rows.map((row) => [row.request_id, row]));
  assert.equal(records.size, rows.length, "a request has two rows");
  return records;
}

/** Once ClickHouse holds all that was recorded. */
export async function allRecords(gateway: Readable): Promise<Map<string, Row>> {
  const figures = async () => {
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    return text.split("\n").filter((line) => /^weir_(?:outbox|analytics|records|insert|engine)_/.test(line));
  };
  await until("the outbox is empty", figures, (lines) => figure(lines.join("\n"), "weir_outbox_rows") === 0);
  return await recordsOf(gateway);
}

/** A gauge or counter of `/metrics`. A page costs the gateway some milliseconds. */
export async function metric(gateway: Readable, name: string): Promise<number> {
  const { text } = await gateway.call("GET", "/metrics", { key: null });
  return figure(text, name);
}

function figure(text: string, name: string): number {
  const line = text.split("\n").find((l) => l.startsWith(`${name} `) || l.startsWith(`${name}{`));
  assert.ok(line !== undefined, `${name} is not among the metrics`);
  return Number(line.slice(line.lastIndexOf(" ")));
}

const IDLE = [
  "weir_calls_live",
  "weir_calls_draining",
  "weir_holds_open",
  "weir_held_micro_usd",
  "weir_budget_holds_open",
  "weir_slots_taken",
  "weir_media_bytes",
];

/** T26, T65: with no call under way nothing is held and no slot is taken. */
export async function idle(gateway: Readable): Promise<void> {
  const figures = async () => {
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    return IDLE.map((name) => `${name} ${figure(text, name)}`);
  };
  await until("nothing is open, held or taken", figures, (lines) =>
    lines.every((line) => line.endsWith(" 0")),
  );
}

/** Sum of `cost_micro` over the last day. */
export async function usageCost(gateway: Readable, group = ""): Promise<Map<string, number>> {
  const query = group === "" ? "" : `?group_by=${group}`;
  const { json, status, text } = await gateway.call("GET", `/v1/usage${query}`);
  assert.equal(status, 200, text);
  const groups = json.groups.map((g: { key: string; cost_micro: number }) => [g.key, g.cost_micro]);
  return new Map([["", json.totals.cost_micro], ...groups]);
}

/** Key id → spend of this month, as the limits page shows it. */
export async function spendOfKeys(gateway: Readable): Promise<Map<string, number>> {
  const { json } = await gateway.call("GET", "/v1/limits");
  return new Map(
    json.keys.map((k: { key_id: string; spend_month_micro: number }) => [k.key_id, k.spend_month_micro]),
  );
}

export async function spendOfProjects(gateway: Readable): Promise<Map<string, number>> {
  const { json } = await gateway.call("GET", "/v1/projects");
  return new Map(
    json.data.map((p: { id: string; spend_month_micro: number }) => [p.id, p.spend_month_micro]),
  );
}
