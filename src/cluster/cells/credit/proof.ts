/**
 * Proves the money of an installation that was restored, before a cell serves: what Redis has of each org must follow from the postings
 * that all cells have. Charges are known by number and sum only: so many as lack between two postings, and no more than the balance
 * fell by. What ClickHouse lists of them is not needed for it.
 */
import { entryOf, type StoredEntry } from "../../../credits/ledger/entry.ts";
import type { Store } from "../../../store/store.ts";
import type { Cell } from "../cell.ts";
import { KEY_PREFIX } from "../redis/keys.ts";
import { onRedis, pages, type RedisLink, type RedisLog } from "../redis/redis.ts";
import { POSTED_LEDGER } from "./shared-credits.ts";

export interface ProofPorts {
  readonly cell: Pick<Cell, "store" | "caughtUp">;
  readonly local: Store;
  readonly redisUrl: string;
  /** Names the restored copy: it is proven once. */
  readonly copyId: string;
  readonly log: RedisLog & { info(fields: Record<string, unknown>, message: string): void };
}

const PROVEN = "cells.proven";
const CONNECT_MS = 10_000;
const SCANNED = 1000;
const MOST_TOLD = 20;

/** @throws Error with a line for each finding, which names the org */
export async function assertProven({ cell, local, redisUrl, copyId, log }: ProofPorts): Promise<void> {
  const proven = local.table<true>(PROVEN);
  if (proven.get(copyId) !== undefined) return;
  const redis = { url: redisUrl, log };
  const { orgs, findings } = await onRedis(redis, CONNECT_MS, (link) => prove(link, cell));
  if (findings.length > 0) {
    const more = findings.length > MOST_TOLD ? [`and ${findings.length - MOST_TOLD} more`] : [];
    const told = [...findings.slice(0, MOST_TOLD), ...more];
    throw new Error(["the restored installation does not add up, and serves nobody:", ...told].join("\n"));
  }
  log.info({ orgs, copyId }, "the restored installation adds up");
  await local.act(() => proven.put(copyId, true));
}

/** A line for each org that does not add up; other cells may post and charge meanwhile. Writes nothing. @throws Error of Redis */
export async function prove(
  link: RedisLink,
  cell: Pick<Cell, "store" | "caughtUp">,
): Promise<{ readonly orgs: number; readonly findings: readonly string[] }> {
  const credits = await creditsIn(link);
  // The entries that Redis counted when it was asked are in the cell's store then.
  await cell.caughtUp();
  const postings = postingsIn(cell.store);
  const newer = [...postings].filter(([org, of]) => newestOf(of) > entriesIn(credits.get(org)));
  // The store may have entries that were posted after that. Redis counts these by now.
  const later = newer.length === 0 ? [] : await creditsIn(link, new Set(newer.map(([org]) => org)));
  const now = new Map([...credits, ...later]);
  const findings: string[] = [];
  for (const org of new Set([...credits.keys(), ...postings.keys()])) {
    const ofOrg = postings.get(org) ?? [];
    const finding = lacksEntries(now.get(org), ofOrg) ?? findingOf(credits.get(org) ?? new Map(), ofOrg);
    if (finding !== undefined) findings.push(`${org}: ${finding}`);
  }
  return { orgs: credits.size, findings };
}

/** What Redis has of an org: the hash `credit:<org>` of `scripts/exchange/40-credit.lua`. */
type Credit = ReadonlyMap<string, number>;
type Posting = ReturnType<typeof entryOf>;

async function creditsIn(link: RedisLink, only?: ReadonlySet<string>): Promise<Map<string, Credit>> {
  const prefix = `${KEY_PREFIX}credit:`;
  const credits = new Map<string, Credit>();
  const scan = (cursor: string) => link.call("SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", SCANNED);
  for await (const keys of pages<Buffer>(scan)) {
    const orgs = keys.map((key) => String(key).slice(prefix.length)).filter((org) => only?.has(org) ?? true);
    const hashes = await Promise.all(orgs.map((org) => link.call("HGETALL", `${prefix}${org}`)));
    for (const [at, org] of orgs.entries()) credits.set(org, fieldsOf(hashes[at] as Buffer[]));
  }
  return credits;
}

function fieldsOf(flat: readonly Buffer[]): Credit {
  const fields = new Map<string, number>();
  for (let at = 0; at < flat.length; at += 2) fields.set(String(flat[at]), Number(String(flat[at + 1])));
  return fields;
}

/** In the order of their numbers. */
function postingsIn(store: Pick<Store, "table">): Map<string, Posting[]> {
  const postings = new Map<string, Posting[]>();
  for (const { key, value } of store.table<StoredEntry>(POSTED_LEDGER.entries).range()) {
    const [org, seq] = key as [string, number];
    const of = postings.get(org) ?? [];
    of.push(entryOf(seq, value));
    postings.set(org, of);
  }
  return postings;
}

const newestOf = (postings: readonly Posting[]): number => postings.at(-1)?.seq ?? 0;
const entriesIn = (credit: Credit | undefined): number => credit?.get("n") ?? 0;

/** @param now what Redis has behind a look at the postings */
function lacksEntries(now: Credit | undefined, postings: readonly Posting[]): string | undefined {
  const [newest, entries] = [newestOf(postings), entriesIn(now)];
  return newest > entries ? `it has entry ${newest}, and Redis counts ${entries} entries` : undefined;
}

/** @param credit what Redis had before a look at the postings: those of later entries were posted since */
function findingOf(credit: Credit, postings: readonly Posting[]): string | undefined {
  const of = (field: string) => credit.get(field) ?? 0;
  const odd = [...credit].find(([, value]) => !Number.isSafeInteger(value));
  if (odd !== undefined) return `${odd[0]} is no whole number in Redis`;
  for (const [sum, part, what] of [
    ["l", "l:", "leases"],
    ["h", "h:", "holds"],
  ] as const) {
    const parts = [...credit].filter(([field]) => field.startsWith(part));
    if (parts.some(([, value]) => value < 0)) return `a cell's ${what} are below zero in Redis`;
    const total = parts.reduce((all, [, value]) => all + value, 0);
    if (total !== of(sum)) return `the ${what} of cells are ${total} together, and Redis counts ${of(sum)}`;
  }
  let [seq, balance] = [0, 0];
  for (const entry of postings) {
    if (entry.seq > of("n")) break;
    const finding = between(seq, entry.seq - 1, balance + entry.amountMicroUsd - entry.balanceMicroUsd);
    if (finding !== undefined) return finding;
    [seq, balance] = [entry.seq, entry.balanceMicroUsd];
  }
  return between(seq, of("n"), balance - of("b"));
}

/** @param fell what the charges after entry `from` up to entry `to` took, micro-USD, if all adds up */
function between(from: number, to: number, fell: number): string | undefined {
  const charges = to - from;
  if (fell === 0 || (fell > 0 && charges > 0)) return undefined;
  const by = charges === 0 ? "no charge" : `${charges} charges`;
  return fell > 0
    ? `${fell} micro-USD lack after entry ${from}, and ${by} took them`
    : `there are ${-fell} micro-USD more after entry ${from} than its entries give, and ${by}`;
}
