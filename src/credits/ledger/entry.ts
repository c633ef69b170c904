/**
 * Ledger entries, in memory and as stored. An entry never changes once written; fields are only ever appended to the
 * stored row.
 */
import { LaterRelease } from "../../store/tables/later-release.ts";

/** All kinds of entries (wire values). All but `settle` are posted with a reference of their own. */
export const LEDGER_KINDS = [
  "topup",
  "settle",
  "refund",
  "grant",
  "expiry",
  "adjustment",
  "subscription",
  "dispute",
  "dispute_reversal",
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];
export type PostedKind = Exclude<LedgerKind, "settle">;
export const POSTED_KINDS = LEDGER_KINDS.filter((kind): kind is PostedKind => kind !== "settle");

interface EntryBase {
  /** 1, 2, 3 … per org, without gaps. */
  readonly seq: number;
  /** Signed: calls and refunds are negative. */
  readonly amountMicroUsd: number;
  /** The org's balance after this entry: the sum of all amounts up to and including it. */
  readonly balanceMicroUsd: number;
  /** Wall time. Order is by `seq`, never by this. */
  readonly createdAtMs: number;
}

/** The charge for one call. */
export interface SettleEntry extends EntryBase {
  readonly kind: "settle";
  readonly requestId: string;
}

/** The entry of a charge, with its number and the balance after it. @param charge micro-USD above zero, and its time of the wall clock */
export const settleEntry = (
  {
    requestId,
    amountMicroUsd,
    atMs,
  }: { readonly requestId: string; readonly amountMicroUsd: number; readonly atMs: number },
  seq: number,
  balanceMicroUsd: number,
): SettleEntry => ({
  kind: "settle",
  seq,
  amountMicroUsd: -amountMicroUsd,
  balanceMicroUsd,
  createdAtMs: atMs,
  requestId,
});

/**
 * An entry that is not a call's charge. `refType` and `refId` name its cause (`topup`, `tup_…`) and are unique per org.
 */
export interface PostedEntry extends EntryBase {
  readonly kind: PostedKind;
  readonly refType: string;
  readonly refId: string;
}

export type LedgerEntry = SettleEntry | PostedEntry;

/** Stored form, a MessagePack array: kind, amount, balance, time, then the request id or the two reference parts. */
export type StoredEntry =
  | readonly [kind: number, amount: number, balance: number, atMs: number, requestId: string]
  | readonly [kind: number, amount: number, balance: number, atMs: number, refType: string, refId: string];

/** Codes in stored rows: never renumber. */
const CODES: Record<LedgerKind, number> = {
  settle: 0,
  topup: 1,
  refund: 2,
  grant: 3,
  expiry: 4,
  adjustment: 5,
  subscription: 6,
  dispute: 7,
  dispute_reversal: 8,
};
const KINDS = new Map(LEDGER_KINDS.map((kind) => [CODES[kind], kind]));

export const codeOf = (kind: LedgerKind): number => CODES[kind];

export const storedEntry = (e: LedgerEntry): StoredEntry =>
  e.kind === "settle"
    ? [CODES.settle, e.amountMicroUsd, e.balanceMicroUsd, e.createdAtMs, e.requestId]
    : [CODES[e.kind], e.amountMicroUsd, e.balanceMicroUsd, e.createdAtMs, e.refType, e.refId];

/** @throws LaterRelease for a kind that this one does not know */
export function entryOf(seq: number, stored: StoredEntry): LedgerEntry {
  const [code, amountMicroUsd, balanceMicroUsd, createdAtMs, first, second = ""] = stored;
  const base = { seq, amountMicroUsd, balanceMicroUsd, createdAtMs };
  const kind = KINDS.get(code);
  if (kind === undefined) throw new LaterRelease(`ledger entry ${seq}, of the unknown kind ${code},`);
  return kind === "settle"
    ? { ...base, kind, requestId: first }
    : { ...base, kind, refType: first, refId: second };
}
