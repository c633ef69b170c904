/**
 * Buying credit: an amount, and what it costs and buys, as one types. The checkout is opened by a key that stays the same until it is there,
 * so pressing twice, a lost answer or a reload opens one.
 */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { type Shown, useAnswer } from "../../api/answers.ts";
import { type ApiError, call } from "../../api/call.ts";
import { useRested } from "../../api/timing.ts";
import { filter, go, pageAddress } from "../../app/router.ts";
import { mayCall, org, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { FaultNote, Note, NotOpen, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { minorOf, minorText } from "../../text/amounts.ts";
import { format } from "../../text/org-format.ts";
import { ProfileForm } from "../billing/profile-form.tsx";
import { forgetIntent, intentKey, intentOf } from "./intents.ts";
import { QuoteTable } from "./quote-table.tsx";
import { proposals, type Quote } from "./topup-words.ts";

const REST_MS = 250;
/** Asks what the least amount is, and whether the profile is complete, before anything is typed. */
const PROBE_MINOR = 1;

/** An amount that a page proposes: what is missing for a fee. */
const wanted = filter("amount");

export function NewTopup() {
  if (!mayCall("createTopup")) return <NotOpen>An owner, an admin and the billing role buy credit.</NotOpen>;
  return <Buying />;
}

function Buying() {
  const name = `topup ${org.value?.id}`;
  const [text, setText] = useState(() => wanted.value || typed(intentOf(sessionStorage, name)?.what));
  const amount = minorOf(text);
  const asked = useRested(amount, REST_MS);
  const shown = useAnswer("quoteTopup", { query: { amount_minor: asked || PROBE_MINOR } });
  const fault = shown.fault.value;
  if (fault?.code === "billing_profile_incomplete")
    return <Incomplete fault={fault} onSaved={() => shown.refresh()} />;
  return <Form name={name} text={text} onText={setText} shown={shown} />;
}

const typed = (what: string | undefined): string => (what === undefined ? "" : minorText(Number(what)));

interface IncompleteProps {
  readonly fault: ApiError;
  readonly onSaved: () => void;
}

function Incomplete({ fault, onSaved }: IncompleteProps) {
  return (
    <Panel title="Who is billed">
      <p>Each top-up makes an invoice, and invoices must state who is billed.</p>
      {mayCall("updateOrg") ? (
        <ProfileForm missing={missingOf(fault)} act="Save and go on" onSaved={onSaved} />
      ) : (
        <Note tone="warn">Ask an owner or an admin to fill it in: your role cannot.</Note>
      )}
    </Panel>
  );
}

const missingOf = ({ details }: ApiError): readonly string[] =>
  (details as { readonly missing?: readonly string[] } | undefined)?.missing ?? [];

interface FormProps {
  readonly name: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly shown: Shown<Quote>;
}

function Form({ name, text, onText, shown }: FormProps) {
  const quote = shown.value.value;
  if (quote === undefined)
    return (
      <Panel title="Buy credit">
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        {shown.fault.value === undefined && <Waiting />}
      </Panel>
    );
  const amount = minorOf(text);
  // What is shown is of what is typed: a quote that is on its way buys nothing.
  const isCurrent = amount === quote.amount_minor && shown.fault.value === undefined;
  return (
    <div class="columns">
      <Panel title="Buy credit">
        <AmountForm
          name={name}
          text={text}
          onText={onText}
          shown={shown}
          quote={quote}
          isCurrent={isCurrent}
        />
      </Panel>
      <Panel title="What it costs and buys" isBusy={amount !== undefined && !isCurrent}>
        {quote.amount_minor === PROBE_MINOR ? (
          <p class="quiet">Type an amount: tax, rate of exchange and credit are shown here.</p>
        ) : (
          <QuoteTable of={quote} />
        )}
      </Panel>
    </div>
  );
}

/** Opens the checkout of an amount, once, and leads to its page. @param name of the intent */
async function openCheckout(name: string, amount: number): Promise<void> {
  const key = intentKey(sessionStorage, name, String(amount), () => crypto.randomUUID());
  const headers = { "idempotency-key": key };
  const body = { amount_minor: amount };
  const { topup } = await call("createTopup", { body }, undefined, headers);
  forgetIntent(sessionStorage, name);
  go(pageAddress(orgSlug.value, ["credits", "topups", topup.id]), "replace");
}

interface AmountProps extends FormProps {
  readonly quote: Quote;
  /** Whether the quote is of the amount that is typed. */
  readonly isCurrent: boolean;
}

function AmountForm({ name, text, onText, shown, quote, isCurrent }: AmountProps) {
  const act = useAct();
  const money = (minor: number) => format.value.minor(minor, quote.currency);
  const amount = minorOf(text);
  const least = money(quote.min_amount_minor);
  const isBelow = amount !== undefined && amount < quote.min_amount_minor;
  const canBuy = isCurrent && !isBelow;
  const fault = shown.fault.value;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (amount !== undefined && canBuy) act.run(() => openCheckout(name, amount));
      }}
    >
      <TextField
        label={`Amount before tax, ${quote.currency}`}
        value={text}
        onValue={onText}
        inputMode="decimal"
        hint={`At least ${least}`}
        fault={amountFault(text, amount, isBelow, least) ?? faultAt(fault, "/amount_minor")}
        autoFocus
      />
      <div class="row">
        {proposals(quote.currency).map((each) => (
          <Button key={each} onClick={() => onText(minorText(each))}>
            {money(each)}
          </Button>
        ))}
      </div>
      {fault?.param !== "/amount_minor" && <FaultNote fault={fault} onRetry={() => shown.refresh()} />}
      <FaultNote fault={act.fault} />
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={!canBuy}>
          {canBuy ? `Continue to pay ${money(quote.total_minor)}` : "Continue to pay"}
        </Button>
      </div>
    </form>
  );
}

function amountFault(
  text: string,
  amount: number | undefined,
  isBelow: boolean,
  least: string,
): string | undefined {
  if (text.trim() === "") return undefined;
  if (amount === undefined) return "An amount such as 1000 or 1,000.50.";
  return isBelow ? `At least ${least}.` : undefined;
}
