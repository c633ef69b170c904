/** Refunds as rows: how each is, what went back, the credit that it took, and its credit note. */
import { type Row, useAnswer } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { REFUND_STATES, REFUND_TONES, type Topup } from "./topup-words.ts";

type Refund = Row<"listRefunds">;

/** Without what they are refunds of. */
const OWN_COLUMNS: readonly Column<Refund>[] = [
  { head: "Asked", cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: "Status",
    cell: ({ status, failure }) => (
      <>
        <Badge tone={REFUND_TONES[status]}>{REFUND_STATES[status]}</Badge> {failure}
      </>
    ),
  },
  {
    head: "Total, tax included",
    isNumber: true,
    cell: ({ total_minor: total, currency }) => format.value.minor(total, currency),
  },
  { head: "Credit", isNumber: true, cell: ({ credits_micro: micro }) => <Money micro={micro} /> },
  { head: "Reason", cell: ({ reason }) => <span class="break">{reason}</span> },
  {
    head: "Credit note",
    cell: ({ credit_note_id: id }) =>
      id === undefined ? (
        <span class="quiet">–</span>
      ) : (
        <Link to={["billing", "invoices", id]}>Credit note</Link>
      ),
  },
];

export const REFUND_COLUMNS: readonly Column<Refund>[] = [
  ...OWN_COLUMNS,
  { head: "Of", cell: ({ topup_id: id }) => <Link to={["credits", "topups", id]}>Top-up</Link> },
];

/** Refunds among which those of a top-up are looked for; a top-up has a hundred at most. */
const LOOKED_AT = 200;

/** Refunds of one top-up. Shown anew where its state is another. */
export function RefundsOf({ of: topup }: { readonly of: Topup }) {
  const isAsked = topup.status !== "pending" && mayCall("listRefunds");
  const shown = useAnswer("listRefunds", isAsked ? { query: { limit: LOOKED_AT } } : undefined);
  const rows = shown.value.value?.data.filter(({ topup_id: id }) => id === topup.id) ?? [];
  if (rows.length === 0) return <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />;
  return (
    <Panel title="Refunds of it">
      <Table label="Refunds of it" columns={OWN_COLUMNS} rows={rows} keyOf={({ id }) => id} />
    </Panel>
  );
}
