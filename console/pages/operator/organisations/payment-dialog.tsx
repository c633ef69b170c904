/** Records a payment that came by wire or cheque. The bank's reference is its key: recorded again, it changes nothing. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../../api/act.ts";
import { call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { TextArea, TextField } from "../../../parts/field.tsx";
import { FaultNote } from "../../../parts/note.tsx";
import { minorOf } from "../../../text/amounts.ts";
import { format } from "../../../text/org-format.ts";
import type { MoneyDialogProps } from "./credit-dialog.tsx";

export function PaymentDialog({ org, onClose, onDone }: MoneyDialogProps) {
  const [text, setText] = useState("");
  const [reference, setReference] = useState("");
  const [reason, setReason] = useState("");
  const act = useAct();
  const amount = minorOf(text);
  const isGood = amount !== undefined && amount > 0 && reference.trim() !== "" && reason.trim() !== "";
  const { minor, money } = format.value;
  const run = () => {
    if (!isGood) return;
    act.run(async () => {
      const made = await call("operatorRecordPayment", {
        params: { id: org.id },
        body: { amount_minor: amount, reference: reference.trim(), reason: reason.trim() },
      });
      onDone(
        `${minor(made.total_minor, made.currency)} with tax was recorded: ${money(made.credits_micro)} of credit.`,
      );
      onClose();
    });
  };
  const faults = {
    amount: faultAt(act.fault, "/amount_minor"),
    reference: faultAt(act.fault, "/reference"),
    reason: faultAt(act.fault, "/reason"),
  };
  return (
    <Dialog title={`Record a payment of ${org.name}`} onClose={onClose}>
      <p>
        It is credited at today's rate, and its invoice is issued and sent. It cannot be undone here: a
        mistake is corrected by an adjustment and a credit note.
      </p>
      <TextField
        label={`Amount before tax, ${org.billing_currency}`}
        value={text}
        onValue={setText}
        inputMode="decimal"
        fault={text !== "" && amount === undefined ? "This is no amount." : faults.amount}
      />
      <TextField
        label="The bank's reference"
        hint="Recorded twice, it is credited once"
        value={reference}
        onValue={setReference}
        maxLength={100}
        fault={faults.reference}
      />
      <TextArea
        label="Reason"
        hint="The organisation reads it in its audit"
        value={reason}
        onValue={setReason}
        rows={2}
        fault={faults.reason}
      />
      {Object.values(faults).every((fault) => fault === undefined) && <FaultNote fault={act.fault} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="main" isBusy={act.isBusy} disabled={!isGood} onClick={run}>
          Record {amount !== undefined && minor(amount, org.billing_currency)}
        </Button>
      </div>
    </Dialog>
  );
}
