/** Top-ups and refunds, newest first, and how automatic top-ups stand. */
import { type Row, useAnswer, usePages } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { BuyButton } from "./balance.tsx";
import { REFUND_COLUMNS } from "./refunds.tsx";
import { SOURCES, statusWord, TOPUP_TONES } from "./topup-words.ts";

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
      id === undefined ? <span class="quiet">–</span> : <Link to={["billing", "invoices", id]}>Invoice</Link>,
  },
];

/** One line: the page "Billing" has the rest. */
function Automatic() {
  const shown = useAnswer("getAutoTopup", {});
  const now = shown.value.value;
  if (now === undefined) return <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />;
  const { config, currency } = now;
  return (
    <Panel title="Automatic top-ups" actions={<Link to={["billing", "auto"]}>Settings and mandate</Link>}>
      <p>
        {config.enabled ? (
          <>
            On: {format.value.minor(config.amount_minor, currency)} before tax is bought when the balance is
            below <Money micro={config.threshold_micro} />.
          </>
        ) : (
          "Off: where the credit is used up, calls are refused until somebody buys more."
        )}
      </p>
    </Panel>
  );
}
