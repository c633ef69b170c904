/** When and how much is bought by itself. What a debit costs with tax is shown as one types, and held against the mandate's bound. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { call } from "../../api/call.ts";
import { useRested } from "../../api/timing.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Money } from "../../parts/when.tsx";
import { microOf, microText, minorOf, minorText } from "../../text/amounts.ts";
import { format } from "../../text/org-format.ts";
import type { AutoTopup } from "./auto-words.ts";

const REST_MS = 250;

interface AutoProps {
  readonly of: AutoTopup;
  readonly onChange: () => void;
}

export function AutoForm({ of: now, onChange }: AutoProps) {
  const { config, currency } = now;
  const title = (
    <Facts
      rows={[
        [
          "Automatic top-ups",
          <Badge tone={config.enabled ? "good" : "plain"}>{config.enabled ? "on" : "off"}</Badge>,
        ],
        ["Bought when below", config.enabled ? <Money micro={config.threshold_micro} /> : undefined],
        ["Amount before tax", config.enabled ? format.value.minor(config.amount_minor, currency) : undefined],
      ]}
    />
  );
  return (
    <Panel title="When and how much">
      {title}
      {mayCall("setAutoTopup") ? <Form of={now} onChange={onChange} /> : null}
    </Panel>
  );
}

/** Proposed where nothing was ever chosen: an amount that the bound surely has room for. */
const PROPOSED = { thresholdMicro: 10_000_000, minor: { INR: 200_000, USD: 2_500 } } as const;

function Form({ of: now, onChange }: AutoProps) {
  const { config, currency, cap_minor: cap, min_amount_minor: least } = now;
  const isNew = config.amount_minor === 0;
  const [below, setBelow] = useState(microText(isNew ? PROPOSED.thresholdMicro : config.threshold_micro));
  const [text, setText] = useState(minorText(isNew ? PROPOSED.minor[currency] : config.amount_minor));
  const act = useAct();
  const threshold = microOf(below);
  const amount = minorOf(text);
  const asked = useRested(amount, REST_MS);
  const quote = useAnswer(
    "quoteTopup",
    asked === undefined || asked < least ? undefined : { query: { amount_minor: asked } },
  );
  const known = quote.value.value?.amount_minor === amount ? quote.value.value : undefined;
  const money = (minor: number) => format.value.minor(minor, currency);
  const isAbove = known !== undefined && known.total_minor > cap;
  const set = (enabled: boolean) =>
    act.run(async () => {
      const body = enabled
        ? { enabled, threshold_micro: threshold ?? 0, amount_minor: amount ?? 0 }
        : { ...config, enabled };
      await call("setAutoTopup", { body });
      onChange();
    });
  const isGood =
    threshold !== undefined && threshold > 0 && amount !== undefined && amount >= least && !isAbove;
  const isPaused = now.mandate?.status === "paused";
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) set(true);
      }}
    >
      <TextField
        label="Buy when the balance is below, US dollars"
        value={below}
        onValue={setBelow}
        inputMode="decimal"
        hint={
          now.notify_hours > 0
            ? "What lasts for two days: the money comes a day later, or more"
            : "What lasts until the money is there: minutes, with most cards"
        }
        fault={
          threshold === undefined || threshold === 0
            ? "An amount such as 10 or 25.50."
            : faultAt(act.fault, "/threshold_micro")
        }
      />
      <TextField
        label={`Amount before tax, ${currency}`}
        value={text}
        onValue={setText}
        inputMode="decimal"
        hint={`At least ${money(least)}; with tax at most ${money(cap)}`}
        fault={
          amountFault(amount, least, money) ??
          (isAbove
            ? `With tax it is ${money(known.total_minor)}; one debit is at most ${money(cap)}.`
            : undefined) ??
          faultAt(act.fault, "/amount_minor")
        }
      />
      {known !== undefined && <Costs of={known} />}
      {act.fault?.param !== "/amount_minor" && act.fault?.param !== "/threshold_micro" && (
        <FaultNote fault={act.fault} />
      )}
      {quote.fault.value?.code === "billing_profile_incomplete" && (
        <p>
          {quote.fault.value.message} <Link to={["billing", "tax"]}>Tax details</Link>
        </p>
      )}
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={!isGood}>
          {isPaused ? "Save and resume" : config.enabled ? "Save changes" : "Switch on"}
        </Button>
        {config.enabled && (
          <Button isBusy={act.isBusy} onClick={() => set(false)}>
            Switch off
          </Button>
        )}
      </div>
    </form>
  );
}

function amountFault(
  amount: number | undefined,
  least: number,
  money: (minor: number) => string,
): string | undefined {
  if (amount === undefined) return "An amount such as 1000 or 1,000.50.";
  return amount < least ? `At least ${money(least)}.` : undefined;
}

/** A debit with its tax, and the credit that it buys at today's rate. */
function Costs({ of: quote }: { readonly of: Answer<"quoteTopup"> }) {
  const { minor } = format.value;
  const { currency, amount_minor: amount, total_minor: total, credits_micro: micro } = quote;
  return (
    <p class="quiet small">
      {total === amount
        ? `A debit is ${minor(total, currency)}`
        : `A debit is ${minor(amount, currency)} and ${minor(total - amount, currency)} tax, ${minor(total, currency)} together`}
      ; {currency === "USD" ? "it buys" : "at today's rate it buys"} <Money micro={micro} /> of credit.
    </p>
  );
}
