/** Mails a document once more, to an address. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { FaultNote, Note } from "../../parts/note.tsx";

interface ResendProps {
  readonly id: string;
  readonly number: string;
  readonly onClose: () => void;
}

export function Resend({ id, number, onClose }: ResendProps) {
  const [to, setTo] = useState(org.value?.billing_email ?? "");
  const [sentTo, setSentTo] = useState("");
  const act = useAct();
  const send = () =>
    act.run(async () => {
      const answer = await call("resendInvoice", { params: { id }, body: { to: to.trim() } });
      setSentTo(answer.to);
    });
  return (
    <Dialog title={`Mail ${number} again`} onClose={onClose}>
      {sentTo === "" ? (
        <TextField label="To" value={to} onValue={setTo} maxLength={254} fault={faultAt(act.fault, "/to")} />
      ) : (
        <Note tone="good">It is on its way to {sentTo}.</Note>
      )}
      {act.fault?.param !== "/to" && <FaultNote fault={act.fault} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>{sentTo === "" ? "Do not send" : "Close"}</Button>
        {sentTo === "" && (
          <Button kind="main" isBusy={act.isBusy} disabled={to.trim() === ""} onClick={send}>
            Mail document
          </Button>
        )}
      </div>
    </Dialog>
  );
}
