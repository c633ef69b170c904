/**
 * Faults planted in our own books for a night: each breaks one thing as a bug or a damaged file would, says what reconciliation must
 * find of it, and is taken back before the books are used for anything else.
 */

import { HOUR_MS } from "../../../src/base/time.ts";
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import type { FindingKind } from "../../../src/billing/reconciliation/finding.ts";
import type { RefundRow } from "../../../src/billing/refunds/refund.ts";
import type { TopupRow } from "../../../src/billing/topups/topup.ts";
import type { StoredEntry } from "../../../src/credits/ledger/entry.ts";
import { openLedger } from "../../../src/credits/ledger/ledger.ts";
import type { GatewayProcess } from "./process.ts";
import type { World } from "./world.ts";

/** A part of ids that nothing else has. */
export const PLANTED = "planted";

export interface Plant {
  /** In India: of the report that must have it. */
  readonly day: string;
  readonly atMs: number;
  readonly findings: readonly { readonly kind: FindingKind; readonly ref: string }[];
  /** In an act. Absent: it is a fault that stays, as an entry of the ledger does. */
  readonly mend?: (process: GatewayProcess) => void;
  mendedAtMs?: number;
}

/** In an act, half an hour after midnight in India. @returns undefined where the day has nothing to spoil */
export type Planting = (world: World, process: GatewayProcess) => Plant | undefined;

const IST_MS = 5.5 * HOUR_MS;
const dayAt = (ms: number): string => new Date(ms + IST_MS).toISOString().slice(0, 10);
const sortOf = (id: string): string => id.slice(id.indexOf("_") + 1);

/** The day that has just ended. */
const ended = ({ parts }: World): string => dayAt(parts.time.now() - HOUR_MS);

function plant(world: World, given: Omit<Plant, "atMs" | "day"> & { readonly day?: string }): Plant {
  return { day: ended(world), atMs: world.parts.time.now(), ...given };
}

function someTopup(world: World, { rooms }: GatewayProcess): TopupRow | undefined {
  const rows = [...rooms.topups.paidOn(ended(world))].filter(({ quote }) => quote.creditsMicroUsd > 0);
  return rows.length === 0 ? undefined : world.parts.dice.pick(rows);
}

function someRefund(world: World, { rooms }: GatewayProcess): RefundRow | undefined {
  const rows = [...rooms.refunds.settledOn(ended(world))].filter(
    ({ creditsMicroUsd }) => creditsMicroUsd > 0,
  );
  return rows.length === 0 ? undefined : world.parts.dice.pick(rows);
}

/** A reference in an index is gone. */
function withoutReference(table: string, kind: FindingKind, type: "topup" | "refund"): Planting {
  return (world, process) => {
    const row = type === "topup" ? someTopup(world, process) : someRefund(world, process);
    const key = [row?.orgId ?? "", type, row?.id ?? ""];
    const value = process.store.table<unknown>(table).get(key);
    if (row === undefined || value === undefined) return undefined;
    process.store.table(table).remove(key);
    const ref = "gatewayRef" in row && type === "refund" ? row.gatewayRef : row.paymentRef;
    return plant(world, {
      findings: [{ kind, ref }],
      mend: ({ store }) => store.table(table).put(key, value),
    });
  };
}

/** Fields of a row have other values until it is mended. */
function withFields<V extends object>(
  process: GatewayProcess,
  table: string,
  key: string[],
  fields: Partial<V>,
) {
  const row = process.store.table<V>(table).get(key) as V;
  const before = Object.fromEntries(Object.keys(fields).map((name) => [name, row[name as keyof V]]));
  process.store.table<V>(table).put(key, { ...row, ...fields });
  return ({ store }: GatewayProcess): void => {
    const now = store.table<V>(table).get(key) as V;
    store.table<V>(table).put(key, { ...now, ...before });
  };
}

const invoiceKey = ({ orgId, id }: Pick<InvoiceRow, "orgId" | "id">): string[] => [orgId, sortOf(id)];

function someInvoice(world: World, process: GatewayProcess) {
  const topup = someTopup(world, process);
  if (topup === undefined) return undefined;
  const invoice = process.rooms.invoiceTables.byReference(topup.orgId, { type: "topup", id: topup.id });
  // One that waits for the portal is read by its job.
  if (invoice === undefined || invoice.irnStatus === "pending") return undefined;
  return { topup, invoice };
}

export const PLANTS = {
  "an invoice that nobody finds": withoutReference("invoices.references", "no_invoice", "topup"),
  "a credit note that nobody finds": withoutReference("invoices.references", "no_credit_note", "refund"),
  "a top-up without its entry": withoutReference("ledger.references", "no_ledger_entry", "topup"),
  "a refund without its entry": withoutReference("ledger.references", "no_ledger_entry", "refund"),
  "a top-up that was never paid": neverPaid,
  "a refund that was never made": neverRefunded,
  "an entry of no top-up": (world, process) => posting(world, process, "topup", 1),
  "an entry of no refund": (world, process) => posting(world, process, "refund", -1),
  "another fee": otherFee,
  "an invoice of another amount": otherAmount,
  "an invoice of something else": otherReference,
  "a number without its document": missingNumber,
  "a balance that is no sum": wrongBalance,
} as const satisfies Record<string, Planting>;

/** As if a paid top-up had been made up: no payment, no entry, no invoice. */
function neverPaid(world: World, process: GatewayProcess): Plant | undefined {
  const like = someTopup(world, process);
  if (like === undefined) return undefined;
  const day = ended(world);
  const [id, ref] = [`tup_${PLANTED}${day}`, `pay_${PLANTED}${day}`];
  // The simulated people ask for no second refund of a top-up.
  const row = {
    ...like,
    id,
    paymentRef: ref,
    status: "refunded" as const,
    refundedMinor: like.quote.amountMinor,
  };
  const rows: [string, string[], unknown][] = [
    ["billing.topups", [row.orgId, id], row],
    ["billing.orgs_of_topups", [id], row.orgId],
    ["billing.topups_paid_on", [day, id], row.orgId],
  ];
  return madeUp(world, process, rows, ["credited_not_paid", "no_ledger_entry", "no_invoice"], ref);
}

function neverRefunded(world: World, process: GatewayProcess): Plant | undefined {
  const like = someRefund(world, process);
  if (like === undefined) return undefined;
  const day = ended(world);
  const [id, ref] = [`rfd_${PLANTED}${day}`, `re_${PLANTED}${day}`];
  const row = { ...like, id, gatewayRef: ref, topupId: `tup_${PLANTED}` };
  const rows: [string, string[], unknown][] = [
    ["billing.refunds", [row.orgId, id], row],
    ["billing.orgs_of_refunds", [id], row.orgId],
    ["billing.refunds_settled_on", [day, id], row.orgId],
  ];
  return madeUp(world, process, rows, ["refund_missing", "no_ledger_entry", "no_credit_note"], ref);
}

function madeUp(
  ...[world, { store }, rows, kinds, ref]: [
    world: World,
    process: GatewayProcess,
    rows: readonly [string, string[], unknown][],
    kinds: readonly FindingKind[],
    ref: string,
  ]
): Plant {
  for (const [table, key, row] of rows) store.table(table).put(key, row);
  return plant(world, {
    findings: kinds.map((kind) => ({ kind, ref })),
    mend: (process) => {
      for (const [table, key] of rows) process.store.table(table).remove(key);
    },
  });
}

/** It stays, and is found on the day that has begun. */
function posting(world: World, { rooms }: GatewayProcess, kind: "topup" | "refund", amountMicroUsd: 1 | -1) {
  const { dice, customers, time } = world.parts;
  const refId = `${kind}_${PLANTED}${time.now()}`;
  const { org } = dice.pick(customers);
  const { outcome } = rooms.book.post(org.id, { kind, amountMicroUsd, refType: kind, refId });
  if (outcome !== "posted") return undefined;
  return plant(world, {
    day: dayAt(time.now()),
    findings: [{ kind: kind === "topup" ? "ledger_without_topup" : "ledger_without_refund", ref: refId }],
  });
}

function otherFee(world: World, process: GatewayProcess): Plant | undefined {
  const topup = someTopup(world, process);
  if (topup === undefined || topup.feeMinor === 0) return undefined;
  const fields = { feeMinor: topup.feeMinor + 1 };
  return plant(world, {
    findings: isListed(world, topup) ? [{ kind: "fee_differs", ref: topup.paymentRef }] : [],
    mend: withFields<TopupRow>(process, "billing.topups", [topup.orgId, topup.id], fields),
  });
}

/** Whether the payment service has the payment on the same day; who told of it may differ by seconds around midnight. */
const isListed = (world: World, { paymentRef }: TopupRow): boolean => {
  const paidAtMs = world.parts.service.engine.state.get("payments", paymentRef)?.paidAtMs ?? 0;
  return dayAt(paidAtMs) === ended(world);
};

function otherAmount(world: World, process: GatewayProcess): Plant | undefined {
  const found = someInvoice(world, process);
  if (found === undefined) return undefined;
  const fields = { totalMinor: found.invoice.totalMinor + 1 };
  return plant(world, {
    findings: [{ kind: "amount_differs", ref: found.topup.paymentRef }],
    mend: withFields<InvoiceRow>(process, "invoices.rows", invoiceKey(found.invoice), fields),
  });
}

function otherReference(world: World, process: GatewayProcess): Plant | undefined {
  const found = someInvoice(world, process);
  if (found === undefined || dayAt(found.invoice.issuedAtMs) !== ended(world)) return undefined;
  const fields = { reference: { type: "topup" as const, id: `tup_${PLANTED}` } };
  return plant(world, {
    findings: [{ kind: "invoice_without_payment", ref: found.invoice.id }],
    mend: withFields<InvoiceRow>(process, "invoices.rows", invoiceKey(found.invoice), fields),
  });
}

/** A statement between two others of the day: nothing reads it again. */
function missingNumber(world: World, { rooms, store }: GatewayProcess): Plant | undefined {
  const day = ended(world);
  const rows = [...rooms.invoiceTables.ofMonth(day.slice(0, 7))].filter(
    ({ kind, issuedAtMs }) => kind === "statement" && dayAt(issuedAtMs) === day,
  );
  const row = rows.sort((a, b) => (a.number < b.number ? -1 : 1)).slice(1, -1)[0];
  if (row === undefined) return undefined;
  store.table("invoices.rows").remove(invoiceKey(row));
  const next = Number(row.number.slice(row.number.lastIndexOf("/") + 1)) + 1;
  return plant(world, {
    findings: [{ kind: "series_gap", ref: `${row.series} ${row.fy} ${next}` }],
    mend: (process) => process.store.table<InvoiceRow>("invoices.rows").put(invoiceKey(row), row),
  });
}

/**
 * Writes a wrong balance into the ledger entry of a call that is not the org's newest entry. The gateway never reads this
 * balance when it computes the unused part of a grant, so that no other figure becomes wrong.
 */
function wrongBalance(world: World, { store }: GatewayProcess): Plant | undefined {
  const { dice, customers } = world.parts;
  const ledger = openLedger(store);
  const { id } = dice.pick(customers).org;
  const [, ...older] = ledger.page(id, { before: Number.MAX_SAFE_INTEGER, limit: 20 });
  const entry = older.find(
    ({ kind, createdAtMs }) => kind === "settle" && dayAt(createdAtMs) === ended(world),
  );
  if (entry === undefined) return undefined;
  const table = store.table<StoredEntry>("ledger");
  const stored = table.get([id, entry.seq]) as StoredEntry;
  const [kind, amount, balance, ...rest] = stored;
  table.put([id, entry.seq], [kind, amount, balance + 1, ...rest] as unknown as StoredEntry);
  return plant(world, {
    findings: [{ kind: "balance_not_sum", ref: id }],
    mend: (process) => process.store.table<StoredEntry>("ledger").put([id, entry.seq], stored),
  });
}
