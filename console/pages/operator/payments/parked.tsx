/** Payments that did not match and were not credited: an operator says what became of each. */
import { useState } from "preact/hooks";
import { usePages } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { filter, setFilters } from "../../../app/router.ts";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { OrgLink } from "../shared/org-link.tsx";
import { ReasonDialog } from "../shared/reason-dialog.tsx";
import { type ParkedPayment, REASONS } from "./parked-words.ts";

const PAGE = 50;
const status = filter("status");

export function Parked() {
  const isClosed = status.value === "closed";
  const list = usePages("operatorListPayments", {
    query: { limit: PAGE, status: isClosed ? "closed" : "open" },
  });
  const [asked, setAsked] = useState<ParkedPayment | undefined>(undefined);
  return (
    <Panel
      title="Not credited"
      actions={
        <Tabs
          label="Status"
          options={[
            ["open", "To look at"],
            ["closed", "Looked at"],
          ]}
          value={isClosed ? "closed" : "open"}
          onValue={(value) => setFilters({ status: value })}
        />
      }
    >
      <p class="quiet small">What came from a payment gateway and does not match what was asked for.</p>
      <ListTable
        label="Payments"
        list={list}
        keyOf={({ id }) => id}
        columns={columnsOf(setAsked)}
        empty={<p>{isClosed ? "None was looked at yet." : "No payment waits to be looked at."}</p>}
      />
      {asked !== undefined && (
        <ReasonDialog
          title="What became of this payment?"
          label="What you did"
          hint="Kept with the payment; the organisation reads it in its audit, where it is known"
          pointer="/outcome"
          act="Close payment"
          kind="main"
          onClose={() => setAsked(undefined)}
          onAct={async (outcome) => {
            await call("operatorClosePayment", { params: { id: asked.id }, body: { outcome } });
            list.refresh();
          }}
        >
          {REASONS[asked.reason][1]} Closing moves no money, and cannot be undone.
        </ReasonDialog>
      )}
    </Panel>
  );
}

const columnsOf = (onClose: (payment: ParkedPayment) => void): readonly Column<ParkedPayment>[] => [
  { head: "Found", cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: "Why",
    cell: ({ reason, detail }) => (
      <>
        <span class="sentence">{REASONS[reason][0]}</span>
        <div class="small quiet break">{detail}</div>
      </>
    ),
  },
  {
    head: "Amount",
    isNumber: true,
    cell: ({ amount_minor: amount, currency }) => format.value.minor(amount, currency),
  },
  {
    head: "Payment",
    cell: ({ gateway, ref }) => (
      <>
        <span class="copy">
          <code class="break">{ref}</code> <CopyButton text={ref} what="id of the payment" />
        </span>
        <div class="small quiet">{gateway}</div>
      </>
    ),
  },
  { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
  {
    head: "Outcome",
    cell: (payment) =>
      payment.closed_at === undefined ? (
        <Button onClick={() => onClose(payment)} aria-label={`Close ${payment.ref}`}>
          Close
        </Button>
      ) : (
        <>
          <span class="break">{payment.outcome}</span>
          <div class="small quiet">
            <When at={payment.closed_at} />
          </div>
        </>
      ),
  },
];
