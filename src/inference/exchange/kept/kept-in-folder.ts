/** Answers, responses and conversations that a gateway kept in its folder, for those that take the folder over. No gateway uses it meanwhile. */
import type { Store } from "../../../store/store.ts";
import type { StoreKey } from "../../../store/tables/table.ts";
import { type KeptItems, NO_ITEMS } from "../../../wire/responses/given-items.ts";
import { CONVERSATION_TABLES, ITEMS_TABLE } from "./conversations/conversations.ts";
import { ANSWER_TABLES } from "./idempotency.ts";
import {
  type Conversation,
  type ConversationHead,
  type KeptAnswer,
  LEAST_ANSWER_MS,
  type StoredResponse,
} from "./kept-rows.ts";
import { RESPONSE_TABLES } from "./stored-responses.ts";

interface FolderPort {
  readonly store: Pick<Store, "table" | "bytes">;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Bytes that whoever takes the rows over can keep. */
  readonly mostBytes: number;
}

interface KeptInFolder<V> {
  /** Key of the row. */
  readonly key: readonly string[];
  readonly row: V;
  /** Until it is forgotten. */
  readonly leftMs: number;
}

const NO_BYTES = Buffer.alloc(0);

/** All that no sweep has met, oldest first. The oldest beyond `mostBytes` come without their bytes: only that they were given is known. Lazily. */
export function* answersInFolder(folder: FolderPort): Generator<KeptInFolder<KeptAnswer>> {
  const { store, nowMs } = folder;
  const { rows, periodMs, keepPeriods } = ANSWER_TABLES;
  const table = store.table<KeptAnswer>(rows);
  for (const { period, key, isWithin } of datedRows(folder, ANSWER_TABLES)) {
    const answer = table.get([...key]);
    // It was put in that hour: perhaps at its end.
    const leftMs = Math.min((period + 1 + keepPeriods) * periodMs - nowMs, keepPeriods * periodMs);
    if (answer === undefined) continue;
    const row: KeptAnswer =
      isWithin || answer.lost !== undefined ? answer : { ...answer, lost: "evicted", body: NO_BYTES };
    yield { key, row, leftMs: Math.max(LEAST_ANSWER_MS, leftMs) };
  }
}

/** Those that expire first come first, without the first beyond `mostBytes`. Lazily. */
export function* responsesInFolder(folder: FolderPort): Generator<KeptInFolder<StoredResponse>> {
  const { store, nowMs } = folder;
  const table = store.table<StoredResponse>(RESPONSE_TABLES.rows);
  for (const { key, isWithin } of datedRows(folder, RESPONSE_TABLES)) {
    const row = isWithin ? table.get([...key]) : undefined;
    const leftMs = row === undefined ? 0 : Math.floor(row.expiresMs - nowMs);
    if (row !== undefined && leftMs > 0) yield { key, row, leftMs };
  }
}

/** All whose time is not over, each with its items where they are within `mostBytes`. Lazily. */
export function* conversationsInFolder(
  folder: FolderPort,
): Generator<KeptInFolder<Conversation> & { readonly isWithin: boolean }> {
  const { store, nowMs, mostBytes } = folder;
  const items = store.table<KeptItems>(ITEMS_TABLE);
  let left = mostBytes;
  for (const { key, value: head } of store.table<ConversationHead>(CONVERSATION_TABLES.rows).range()) {
    const leftMs = Math.floor(head.expiresMs - nowMs);
    if (leftMs <= 0) continue;
    left -= head.bytes;
    const isWithin = left >= 0;
    const row = { head, items: (isWithin ? items.get(key) : undefined) ?? NO_ITEMS };
    yield { key: key as string[], row, leftMs, isWithin };
  }
}

interface DatedRow {
  /** Number of the period that the row was put for. */
  readonly period: number;
  readonly key: readonly string[];
  /** This row and all newer ones are within the bytes. */
  readonly isWithin: boolean;
}

/** Keys in the order of their periods. */
function* datedRows(
  { store, mostBytes }: FolderPort,
  names: { readonly rows: string; readonly periods: string },
): Generator<DatedRow> {
  const bytes = store.bytes(names.rows);
  const periods = store.table<true>(names.periods);
  const keyOf = (key: StoreKey) => key as [number, ...string[]];
  let left = mostBytes;
  let without = 0;
  for (const { key } of periods.range({ reverse: true })) {
    const [, ...rowKey] = keyOf(key);
    if (left >= 0) left -= bytes.get(rowKey)?.length ?? 0;
    if (left < 0) without++;
  }
  for (const { key } of periods.range()) {
    const [period, ...rowKey] = keyOf(key);
    yield { period, key: rowKey, isWithin: --without < 0 };
  }
}
