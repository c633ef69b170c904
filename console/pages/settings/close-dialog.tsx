/** Asks before an org is closed: its short name is typed, and it is said what becomes of the credit. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { mayCall, type Org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Check, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { format } from "../../text/org-format.ts";
import { refreshOrg } from "./org-change.ts";

export function CloseDialog({ of: shown, onClose }: { readonly of: Org; readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [asksRefund, setAsksRefund] = useState(false);
  const credits = useAnswer("getCredits", mayCall("getCredits") ? {} : undefined);
  const act = useAct();
  const isSure = typed.trim() === shown.slug;
  const close = () =>
    act.run(async () => {
      await call("closeOrg", {
        params: { org: shown.id },
        body: { confirm: typed.trim(), refund_requested: asksRefund },
      });
      await refreshOrg();
      onClose();
    });
  const credit = credits.value.value;
  return (
    <Dialog title={`Close "${shown.name}" for good?`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isSure) close();
        }}
      >
        <p>All its keys are refused from their next call on. It cannot be undone, by the operator either.</p>
        {credit !== undefined && (
          <p>
            {format.value.money(credit.available_micro_usd)} of credit are left. What of it was paid for can
            be refunded, what was granted ends; the mail of the closing says how much each is.
          </p>
        )}
        <Check
          label="Ask the operator to refund the paid credit that is left"
          value={asksRefund}
          onValue={setAsksRefund}
        />
        <p class="quiet small">
          It goes back to the payments that it is of. The operator decides, and a mail tells of it.
        </p>
        <TextField
          label={`Type ${shown.slug} to confirm`}
          value={typed}
          onValue={setTyped}
          fault={faultAt(act.fault, "/confirm")}
          maxLength={100}
        />
        {act.fault?.param !== "/confirm" && <FaultNote fault={act.fault} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" type="submit" isBusy={act.isBusy} disabled={!isSure}>
            Close organisation
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
