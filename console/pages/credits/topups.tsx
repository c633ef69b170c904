/** Top-ups and refunds, newest first, and how automatic top-ups stand. */
import { type Row, useAnswer, usePages } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { BuyButton } from "./balance.tsx";
import { REFUND_TONES, SOURCES, statusWord, TOPUP_TONES } from "./topup-words.ts";

const PAGE = 25;

export function Topups() {
  const topups = usePages("listTopups", { query: { limit: PAGE } });
  const refunds = usePages("listRefunds", mayCall("listRefunds") ? { query: { limit: PAGE } } : undefined);
  return (
    <>
      <Panel title="Top-ups" actions={mayCall("createTopup") && <BuyButton />}>
        <ListTable
          label="Top-ups"
          list={topups}
          keyOf={({ id }) => id}
          columns={TOPUP_COLUMNS}
          empty={<p>No credit was bought yet.{mayCall("createTopup") && " Buy some above."}</p>}
        />
      </Panel>
      {mayCall("getAutoTopup") && <Automatic />}
      {refunds.rows.value.length > 0 && (
        <Panel title="Refunds">
          <ListTable
            label="Refunds"
            list={refunds}
            keyOf={({ id }) => id}
            columns={REFUND_COLUMNS}
            empty=""
          />
        </Panel>
      )}
    </>
  );
}

const TOPUP_COLUMNS: readonly Column<Row<"listTopups">>[] = [
  {
    head: "Begun",
    cell: ({ id, created_at: at }) => (
      <Link to={["credits", "topups", id]}>
        <When at={at} />
      </Link>
    ),
  },
  {
    head: "Status",
    cell: ({ id, status, checkout_url: page }) => (
      <>
        <Badge tone={TOPUP_TONES[status]}>{statusWord(status)}</Badge>{" "}
        {page !== undefined && <Link to={["credits", "topups", id]}>Go on paying</Link>}
      </>
    ),
  },
  {
    head: "Total, tax included",
    isNumber: true,
    cell: ({ total_minor: total, currency }) => format.value.minor(total, currency),
  },
  { head: "Credit", isNumber: true, cell: ({ credits_micro: micro }) => <Money micro={micro} /> },
  {
    head: "How",
    cell: ({ source, method }) => (
      <span class="nowrap">{[SOURCES[source], method].filter((part) => part !== "").join(", ")}</span>
    ),
  },
  {
    head: "Invoice",
    cell: ({ invoice_id: id }) =>
      id === undefined ? <span class="quiet">–</span> : <Link to={["credits", "invoices", id]}>Invoice</Link>,
  },
];

const REFUND_COLUMNS: readonly Column<Row<"listRefunds">>[] = [
  { head: "Asked", cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: "Status",
    cell: ({ status, failure }) => (
      <>
        <Badge tone={REFUND_TONES[status]}>{status}</Badge> {failure}
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
  { head: "Of", cell: ({ topup_id: id }) => <Link to={["credits", "topups", id]}>Top-up</Link> },
  {
    head: "Credit note",
    cell: ({ credit_note_id: id }) =>
      id === undefined ? (
        <span class="quiet">–</span>
      ) : (
        <Link to={["credits", "invoices", id]}>Credit note</Link>
      ),
  },
];

function Automatic() {
  const shown = useAnswer("getAutoTopup", {});
  const now = shown.value.value;
  if (now === undefined)
    return (
      <Panel title="Automatic top-ups">
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Panel>
    );
  const { mandate, config, currency } = now;
  const { minor, money } = format.value;
  return (
    <Panel
      title="Automatic top-ups"
      // The page that sets them up is of the second half of the console.
      actions={<a href="/docs#tag/Credits">How to set them up</a>}
    >
      <Facts
        rows={[
          ["State", config.enabled ? "on" : "off"],
          ["Bought when below", config.enabled ? money(config.threshold_micro) : undefined],
          ["Amount before tax", config.enabled ? minor(config.amount_minor, currency) : undefined],
          ["Mandate", mandate === null ? "none" : `${mandate.status}, ${mandate.method}`],
          [
            "Most of one debit",
            mandate === null ? undefined : minor(mandate.max_amount_minor, mandate.currency),
          ],
        ]}
      />
    </Panel>
  );
}
