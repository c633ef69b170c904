/** Gives an organisation credit, or corrects its balance: once, however often it is sent. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../../api/act.ts";
import { call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Choice, TextArea, TextField } from "../../../parts/field.tsx";
import { FaultNote } from "../../../parts/note.tsx";
import { microOf } from "../../../text/amounts.ts";
import { format } from "../../../text/org-format.ts";
import { forgetIntent, intentKey } from "../../credits/intents.ts";
import type { Org } from "./org-words.ts";

export interface MoneyDialogProps {
  readonly org: Org;
  readonly onClose: () => void;
  /** @param told what was done, in a sentence */
  readonly onDone: (told: string) => void;
}

type Way = "add" | "take";

interface Posting {
  readonly kind: "grant" | "adjust";
  readonly org: Org;
  readonly micro: number;
  readonly reason: string;
}

/** The same in the same words has the same key until it is answered. @returns what was posted, and the balance behind it */
async function post({ kind, org, micro, reason }: Posting) {
  const name = `${kind} ${org.id}`;
  const key = intentKey(sessionStorage, name, `${micro} ${reason}`, () => crypto.randomUUID());
  const input = {
    params: { id: org.id },
    body: { amount_micro_usd: micro, reason, idempotency_key: key },
  };
  const posted = await (kind === "grant" ? call("operatorGrant", input) : call("operatorAdjust", input));
  forgetIntent(sessionStorage, name);
  return posted;
}

export function CreditDialog({ kind, org, onClose, onDone }: MoneyDialogProps & Pick<Posting, "kind">) {
  const [text, setText] = useState("");
  const [way, setWay] = useState<Way>("add");
  const [reason, setReason] = useState("");
  const act = useAct();
  const amount = microOf(text);
  const isGood = amount !== undefined && amount > 0 && reason.trim() !== "";
  const { money } = format.value;
  const run = () => {
    if (!isGood) return;
    act.run(async () => {
      const micro = way === "take" ? -amount : amount;
      const posted = await post({ kind, org, micro, reason: reason.trim() });
      const what = kind === "grant" ? "granted" : way === "take" ? "taken" : "added";
      onDone(`${money(amount)} ${what}: the balance is ${money(posted.balance_micro_usd)}.`);
      onClose();
    });
  };
  const faults = {
    amount: faultAt(act.fault, "/amount_micro_usd"),
    reason: faultAt(act.fault, "/reason"),
  };
  return (
    <Dialog
      title={kind === "grant" ? `Grant ${org.name} credit` : `Adjust the credit of ${org.name}`}
      onClose={onClose}
    >
      <p>
        {kind === "grant"
          ? "Granted credit is spent as bought credit is, and is never paid back."
          : "An adjustment corrects a mistake. It takes no more than is available."}{" "}
        It is an entry of the ledger for ever; a mistake is corrected by another one.
      </p>
      {kind === "adjust" && (
        <Choice
          label="What happens"
          value={way}
          onValue={(value) => setWay(value as Way)}
          options={[
            ["add", "Add credit"],
            ["take", "Take credit"],
          ]}
        />
      )}
      <TextField
        label="Amount, US dollars"
        value={text}
        onValue={setText}
        inputMode="decimal"
        fault={text !== "" && amount === undefined ? "This is no amount." : faults.amount}
      />
      <TextArea
        label="Reason"
        hint="The organisation reads it in its audit"
        value={reason}
        onValue={setReason}
        rows={3}
        fault={faults.reason}
      />
      {faults.amount === undefined && faults.reason === undefined && <FaultNote fault={act.fault} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button
          kind={kind === "adjust" && way === "take" ? "danger" : "main"}
          isBusy={act.isBusy}
          disabled={!isGood}
          onClick={run}
        >
          {kind === "grant" ? "Grant" : way === "take" ? "Take" : "Add"}{" "}
          {amount !== undefined && money(amount)}
        </Button>
      </div>
    </Dialog>
  );
}
