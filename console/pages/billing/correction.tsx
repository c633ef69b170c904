/** Asks the operator for an invoice with another GSTIN. An invoice does not change once it is issued: what is asked for is a new one. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import { FaultNote, Note } from "../../parts/note.tsx";
import type { Invoice } from "./document-words.ts";
import { gstinOf, gstinWords } from "./gstin.ts";

interface CorrectionProps {
  readonly of: Invoice;
  readonly onClose: () => void;
}

export function CorrectionDialog({ of: invoice, onClose }: CorrectionProps) {
  const known = org.value?.gstin ?? "";
  const [gstin, setGstin] = useState(known === invoice.recipient.gstin ? "" : known);
  const [reason, setReason] = useState("");
  const [ticket, setTicket] = useState<string | undefined>(undefined);
  const act = useAct();
  const words = gstinWords(gstin, "");
  const ask = () =>
    act.run(async () => {
      const body = { gstin: gstinOf(gstin), reason: reason.trim() };
      const answer = await call("correctInvoice", { params: { id: invoice.id }, body });
      setTicket(answer.ticket.id);
    });
  if (ticket !== undefined)
    return (
      <Dialog title={`Correction of ${invoice.number}`} onClose={onClose}>
        <Note tone="good">
          It is asked for: the operator decides, and you are told by mail. The ticket is{" "}
          <Copy text={ticket} />.
        </Note>
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    );
  const isPlaced = act.fault?.param === "/gstin" || act.fault?.param === "/reason";
  return (
    <Dialog title={`Another GSTIN on ${invoice.number}`} onClose={onClose}>
      <p>
        An invoice does not change once it is issued. Once the operator agrees, a credit note takes back what
        is left of it, and a new invoice over the same bears the new GSTIN. No money moves.
      </p>
      <TextField
        label={invoice.recipient.gstin === "" ? "GSTIN" : `GSTIN, in place of ${invoice.recipient.gstin}`}
        value={gstin}
        onValue={setGstin}
        maxLength={40}
        hint={words.text}
        fault={words.state === "bad" ? words.text : faultAt(act.fault, "/gstin")}
      />
      <TextArea
        label="Why"
        value={reason}
        onValue={setReason}
        rows={3}
        hint="Who decides reads it"
        fault={faultAt(act.fault, "/reason")}
      />
      {!isPlaced && <FaultNote fault={act.fault} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>Leave it</Button>
        <Button
          kind="main"
          isBusy={act.isBusy}
          disabled={words.state !== "good" || reason.trim() === ""}
          onClick={ask}
        >
          Ask for a new invoice
        </Button>
      </div>
    </Dialog>
  );
}
