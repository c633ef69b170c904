/** One document: as it prints, what belongs to it, its files, mailing it again, and asking for another GSTIN on it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { CorrectionDialog } from "./correction.tsx";
import { canCorrect, DOCUMENTS, documentStatus, E_INVOICE, type Invoice } from "./document-words.ts";
import { DocumentFiles } from "./documents.tsx";
import { Paper } from "./paper.tsx";
import { Resend } from "./resend.tsx";

/** The portal registers an e-invoice within seconds, as a rule. */
const AGAIN_MS = 5000;

export function InvoicePage({ id }: { readonly id: string }) {
  const shown = useAnswer("getInvoice", { params: { id } });
  const printed = useAnswer("getInvoiceDocument", { params: { id } });
  const invoice = shown.value.value;
  useWhileSeen(
    () => {
      shown.refresh();
      printed.refresh();
    },
    invoice?.irn_status === "pending" ? AGAIN_MS : undefined,
  );
  if (invoice === undefined)
    return (
      <Panel title="Document">
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Panel>
    );
  return (
    <>
      <About of={invoice} />
      <Panel title="As it prints">
        <FaultNote fault={printed.fault.value} onRetry={() => printed.refresh()} />
        {printed.value.value === undefined ? (
          printed.fault.value === undefined && <Waiting />
        ) : (
          <Paper of={printed.value.value} />
        )}
      </Panel>
    </>
  );
}

function About({ of: invoice }: { readonly of: Invoice }) {
  const [asked, setAsked] = useState<"mail" | "correction" | undefined>(undefined);
  const { id, number, kind } = invoice;
  const close = () => setAsked(undefined);
  return (
    <Panel
      title={`${DOCUMENTS[kind]} ${number}`}
      actions={
        <>
          <DocumentFiles id={id} number={number} />
          {mayCall("resendInvoice") && <Button onClick={() => setAsked("mail")}>Mail it again</Button>}
          {mayCall("correctInvoice") && canCorrect(invoice) && (
            <Button onClick={() => setAsked("correction")}>Correct the GSTIN</Button>
          )}
        </>
      }
    >
      <Facts rows={factsOf(invoice)} />
      {asked === "mail" && <Resend id={id} number={number} onClose={close} />}
      {asked === "correction" && <CorrectionDialog of={invoice} onClose={close} />}
    </Panel>
  );
}

const toInvoice = (id: string | undefined, text: string): ComponentChildren =>
  id === undefined ? undefined : <Link to={["billing", "invoices", id]}>{text}</Link>;

function factsOf(invoice: Invoice): (readonly [string, ComponentChildren])[] {
  const { currency, credited_minor: credited, topup_id: topup, irn, irn_status: registered } = invoice;
  const { plan_id: plan, period_start: from, period_end: to } = invoice;
  const notes = invoice.credit_note_ids ?? [];
  return [
    [
      "Status",
      <Badge key="status" tone={invoice.status === "paid" ? "good" : "plain"}>
        {documentStatus(invoice)}
      </Badge>,
    ],
    ["Issued", <When key="issued" at={invoice.issued_at} />],
    [
      "Plan",
      plan === undefined || from === undefined || to === undefined ? undefined : (
        <>
          <Link to={["billing"]}>{plan}</Link>, <When at={from} as="day" /> to <When at={to} as="day" />
        </>
      ),
    ],
    [
      "Top-up",
      topup === "" ? undefined : (
        <Link to={["credits", "topups", topup]}>
          <code>{topup}</code>
        </Link>
      ),
    ],
    ["Takes back of", toInvoice(invoice.original_id, "The invoice that it corrects")],
    ["Credited", credited === 0 ? undefined : `${format.value.minor(credited, currency)}, tax included`],
    [
      "Credit notes",
      notes.length === 0 ? undefined : (
        <span class="row links">
          {notes.map((note, at) => (
            <Link key={note} to={["billing", "invoices", note]}>
              {notes.length === 1 ? "Credit note" : `Credit note ${at + 1}`}
            </Link>
          ))}
        </span>
      ),
    ],
    ["Issued anew as", toInvoice(invoice.replaced_by_id, "The corrected invoice")],
    ["Issued in place of", toInvoice(invoice.replaces_id, "The invoice before the correction")],
    ["E-invoice", registered === "not_required" ? undefined : E_INVOICE[registered]],
    ["IRN", irn === "" ? undefined : <Copy text={irn} what="number of the e-invoice" />],
    ["Id", <Copy key="id" text={invoice.id} what="document id" />],
  ];
}
