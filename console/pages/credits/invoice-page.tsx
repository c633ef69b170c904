/** One document: what it states, line by line, its files, and mailing it again. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { DocumentFiles } from "./documents.tsx";
import { INDIAN_STATES } from "./indian-states.ts";
import { Resend } from "./resend.tsx";
import { DOCUMENTS, type Invoice, statusWord } from "./topup-words.ts";

export function InvoicePage({ id }: { readonly id: string }) {
  const shown = useAnswer("getInvoice", { params: { id } });
  const invoice = shown.value.value;
  const [isMailing, setMailing] = useState(false);
  if (invoice === undefined)
    return (
      <Panel title="Document">
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Panel>
    );
  return (
    <Panel
      title={`${DOCUMENTS[invoice.kind]} ${invoice.number}`}
      actions={
        <>
          <DocumentFiles id={id} number={invoice.number} />
          {mayCall("resendInvoice") && <Button onClick={() => setMailing(true)}>Mail it again</Button>}
        </>
      }
    >
      <Stated of={invoice} />
      <Lines of={invoice} />
      {isMailing && <Resend id={id} number={invoice.number} onClose={() => setMailing(false)} />}
    </Panel>
  );
}

/** `Karnataka (29)`; the code alone where it is of no State. */
function placeOf(code: string): string | undefined {
  const [, name] = INDIAN_STATES.find(([each]) => each === code) ?? [];
  return name === undefined ? code || undefined : `${name} (${code})`;
}

function Stated({ of: invoice }: { readonly of: Invoice }) {
  const { recipient } = invoice;
  return (
    <Facts
      rows={[
        [
          "Status",
          <Badge tone={invoice.status === "paid" ? "good" : "plain"}>{statusWord(invoice.status)}</Badge>,
        ],
        ["Issued", <When at={invoice.issued_at} />],
        ["For", [recipient.legal_name, recipient.gstin, recipient.tax_id].filter(Boolean).join(", ")],
        ["Place of supply", placeOf(invoice.place_of_supply)],
        ["Financial year", invoice.fy],
        [
          "E-invoice",
          invoice.irn_status === "not_required" ? undefined : invoice.irn === "" ? (
            statusWord(invoice.irn_status)
          ) : (
            <Copy text={invoice.irn} what="number of the e-invoice" />
          ),
        ],
        [
          "Top-up",
          invoice.topup_id === "" ? undefined : (
            <Link to={["credits", "topups", invoice.topup_id]}>
              <code>{invoice.topup_id}</code>
            </Link>
          ),
        ],
        [
          "Corrects",
          invoice.original_id && <Link to={["credits", "invoices", invoice.original_id]}>The invoice</Link>,
        ],
        [
          "Credited",
          invoice.credited_minor === 0
            ? undefined
            : format.value.minor(invoice.credited_minor, invoice.currency),
        ],
        ["Id", <Copy text={invoice.id} what="document id" />],
      ]}
    />
  );
}

function Lines({ of: invoice }: { readonly of: Invoice }) {
  const money = (minor: number) => format.value.minor(minor, invoice.currency);
  const taxes = [
    ["CGST", invoice.cgst_minor],
    ["SGST", invoice.sgst_minor],
    ["IGST", invoice.igst_minor],
  ] as const;
  const rows = [
    ...invoice.lines.map((line, at) => ({
      key: `line ${at}`,
      what: line.description,
      amount: line.amount_minor,
    })),
    ...taxes.filter(([, minor]) => minor !== 0).map(([what, amount]) => ({ key: what, what, amount })),
    { key: "total", what: "Total", amount: invoice.total_minor },
  ];
  return (
    <Table
      label="Lines"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { head: "For", cell: ({ what }) => <span class="break">{what}</span> },
        { head: "Amount", isNumber: true, cell: ({ amount }) => money(amount) },
      ]}
    />
  );
}
