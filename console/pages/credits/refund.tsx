/**
 * Asks how much of a top-up goes back, and why. What goes back with tax, and what of the credit goes with it, is shown as one types, by the
 * API's own quote. The same refund has the same key until it is answered, so it is made once.
 */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { useRested } from "../../api/timing.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Table } from "../../parts/table.tsx";
import { Money } from "../../parts/when.tsx";
import { minorOf, minorText } from "../../text/amounts.ts";
import { format } from "../../text/org-format.ts";
import { forgetIntent, intentKey } from "./intents.ts";
import type { Topup } from "./topup-words.ts";

type RefundQuote = Answer<"quoteRefund">;

interface RefundProps {
  readonly of: Topup;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RefundDialog(props: RefundProps) {
  const { of: topup, onClose } = props;
  const most = useAnswer("quoteRefund", { params: { id: topup.id } });
  const known = most.value.value;
  return (
    <Dialog
      title={`Refund this top-up of ${format.value.minor(topup.total_minor, topup.currency)}?`}
      onClose={onClose}
    >
      <p>
        Unspent credit goes back to where it was paid from, with its tax. The credit is taken at once, and a
        refund cannot be taken back. A credit note is issued once the money is back.
      </p>
      <FaultNote fault={most.fault.value} onRetry={() => most.refresh()} />
      {known === undefined && most.fault.value === undefined && <Waiting />}
      {known?.refundable_minor === 0 && (
        <Note tone="warn">
          {known.bar ?? "Nothing can be refunded: the credit is spent, or held by calls that run."}
        </Note>
      )}
      {known === undefined || known.refundable_minor === 0 ? (
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
        </div>
      ) : (
        <Form {...props} most={known} />
      )}
    </Dialog>
  );
}

const REST_MS = 250;

/** Makes a refund, once. */
async function refund(topup: Topup, amount: number, reason: string): Promise<void> {
  const name = `refund ${topup.id}`;
  const key = intentKey(sessionStorage, name, `${amount} ${reason}`, () => crypto.randomUUID());
  const body = { amount_minor: amount, reason, idempotency_key: key };
  await call("refundTopup", { params: { id: topup.id }, body });
  forgetIntent(sessionStorage, name);
}

function Form({ of: topup, onClose, onDone, most }: RefundProps & { readonly most: RefundQuote }) {
  const { refundable_minor: left } = most;
  const [text, setText] = useState(minorText(left));
  const [reason, setReason] = useState("");
  const act = useAct();
  const amount = minorOf(text);
  const isGood = amount !== undefined && amount > 0 && amount <= left;
  // What is quoted already is not asked again: calls that run may have taken some of it.
  const asked = useRested(isGood && amount !== most.amount_minor ? amount : undefined, REST_MS);
  const shown = useAnswer(
    "quoteRefund",
    asked === undefined ? undefined : { params: { id: topup.id }, query: { amount_minor: asked } },
  );
  const quote = [most, shown.value.value].find((each) => each?.amount_minor === amount);
  const money = (value: number) => format.value.minor(value, topup.currency);
  const parts = [
    ["All that is left", left],
    ["Half of it", Math.floor(left / 2)],
  ] as const;
  const run = () => {
    if (!isGood) return;
    act.run(async () => {
      await refund(topup, amount, reason);
      onDone();
      onClose();
    });
  };
  return (
    <>
      <TextField
        label={`Amount before tax, ${topup.currency}`}
        value={text}
        onValue={setText}
        inputMode="decimal"
        hint={
          left < topup.amount_minor - topup.refunded_minor
            ? `At most ${money(left)}: the rest is spent or held`
            : `At most ${money(left)}`
        }
        fault={isGood ? faultAt(act.fault, "/amount_minor") : `An amount up to ${money(left)}.`}
      />
      <div class="row">
        {parts
          .filter(([, minor]) => minor > 0)
          .map(([name, minor]) => (
            <Button key={name} onClick={() => setText(minorText(minor))}>
              {name}: {money(minor)}
            </Button>
          ))}
      </div>
      {quote !== undefined && <GoesBack of={quote} />}
      <TextField label="Reason, for your own records" value={reason} onValue={setReason} maxLength={500} />
      <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
      <FaultNote fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" isBusy={act.isBusy} disabled={!isGood || quote === undefined} onClick={run}>
          {quote === undefined ? "Refund" : `Refund ${money(quote.total_minor)}`}
        </Button>
      </div>
    </>
  );
}

function GoesBack({ of: quote }: { readonly of: RefundQuote }) {
  const money = (value: number) => <span class="number">{format.value.minor(value, quote.currency)}</span>;
  return (
    <Table
      label="What goes back, and what it takes"
      rows={[
        { what: "Before tax", value: money(quote.amount_minor) },
        ...(quote.tax_minor === 0 ? [] : [{ what: "Its tax", value: money(quote.tax_minor) }]),
        { what: "Goes back to you", value: <strong>{money(quote.total_minor)}</strong> },
        { what: "Credit that is taken", value: <Money micro={quote.credits_micro} /> },
      ]}
      keyOf={({ what }) => what}
      columns={[
        { head: "What", cell: ({ what }) => what },
        { head: "Amount", isNumber: true, cell: ({ value }) => value },
      ]}
    />
  );
}
