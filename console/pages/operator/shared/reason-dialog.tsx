/** Asks for a reason before an operator does something to a customer: the customer reads it in the audit. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../../api/act.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { TextArea } from "../../../parts/field.tsx";
import { FaultNote } from "../../../parts/note.tsx";

interface ReasonProps {
  /** What is done, as a question. */
  readonly title: string;
  /** What it does, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** What the text is, and who reads it. */
  readonly label: string;
  readonly hint: string;
  /** Where the API says what is wrong with the text: `/reason`. */
  readonly pointer: string;
  /** Verb and noun of the button. */
  readonly act: string;
  readonly kind: "main" | "danger";
  readonly onAct: (reason: string) => Promise<void>;
  readonly onClose: () => void;
}

export function ReasonDialog(dialog: ReasonProps) {
  const { title, children, label, hint, pointer, kind, onAct, onClose } = dialog;
  const [reason, setReason] = useState("");
  const act = useAct();
  const run = () =>
    act.run(async () => {
      await onAct(reason.trim());
      onClose();
    });
  const fault = faultAt(act.fault, pointer);
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <TextArea label={label} hint={hint} value={reason} onValue={setReason} rows={3} fault={fault} />
      {fault === undefined && <FaultNote fault={act.fault} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind={kind} isBusy={act.isBusy} disabled={reason.trim() === ""} onClick={run}>
          {dialog.act}
        </Button>
      </div>
    </Dialog>
  );
}
