/** Asks how much of a top-up goes back, and why. The same refund has the same key until it is answered, so it is made once. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { type ApiError, call } from "../../api/call.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { minorOf, minorText } from "../../text/amounts.ts";
import { format } from "../../text/org-format.ts";
import { forgetIntent, intentKey } from "./intents.ts";
import { refundableOf, type Topup } from "./topup-words.ts";

interface RefundProps {
  readonly of: Topup;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RefundDialog({ of: topup, onClose, onDone }: RefundProps) {
  const most = refundableOf(topup);
  const [text, setText] = useState(minorText(most));
  const [reason, setReason] = useState("");
  const act = useAct();
  const amount = minorOf(text);
  const isGood = amount !== undefined && amount > 0 && amount <= most;
  const money = (value: number) => format.value.minor(value, topup.currency);
  const refund = () => {
    if (!isGood) return;
    act.run(async () => {
      const name = `refund ${topup.id}`;
      const key = intentKey(sessionStorage, name, `${amount} ${reason}`, () => crypto.randomUUID());
      const body = { amount_minor: amount, reason, idempotency_key: key };
      await call("refundTopup", { params: { id: topup.id }, body });
      forgetIntent(sessionStorage, name);
      onDone();
      onClose();
    });
  };
  return (
    <Dialog title={`Refund this top-up of ${money(topup.total_minor)}?`} onClose={onClose}>
      <p>
        Unspent credit goes back to where it was paid from, with its tax. The credit is taken at once; a
        credit note is issued once the money is back.
      </p>
      <TextField
        label={`Amount before tax, ${topup.currency}`}
        value={text}
        onValue={setText}
        inputMode="decimal"
        hint={`At most ${money(most)}`}
        fault={
          isGood
            ? (leftOf(act.fault, money) ?? faultAt(act.fault, "/amount_minor"))
            : `An amount up to ${money(most)}.`
        }
      />
      <TextField label="Reason, for your own records" value={reason} onValue={setReason} maxLength={500} />
      <FaultNote fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" isBusy={act.isBusy} disabled={!isGood} onClick={refund}>
          Refund {isGood && money(amount)}
        </Button>
      </div>
    </Dialog>
  );
}

/** What can be refunded, where that is less because credit was spent. */
function leftOf(fault: ApiError | undefined, money: (minor: number) => string): string | undefined {
  if (fault?.code !== "not_refundable") return undefined;
  const { refundable_minor: left } = (fault.details ?? {}) as { readonly refundable_minor?: number };
  return left === undefined ? undefined : `${money(left)} can be refunded: the rest is spent.`;
}
