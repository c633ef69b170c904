/**
 * One change of plan, before it is done: what is taken from the balance, what is granted, what differs, and when. It is the API's own quote,
 * and no more than it says is ever taken. The same change has the same key until it is answered, so it is made once.
 */
import { useState } from "preact/hooks";
import { type Act, useAct } from "../../api/act.ts";
import { type Shown, useAnswer } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { filter, setFilters } from "../../app/router.ts";
import { org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Money, When } from "../../parts/when.tsx";
import { minorText } from "../../text/amounts.ts";
import { format } from "../../text/org-format.ts";
import { forgetIntent, intentKey } from "../credits/intents.ts";
import {
  actText,
  differences,
  feeText,
  intentOfChange,
  isFree,
  LIMITS,
  missingMinor,
  type Plan,
  type PlanQuote,
  type Subscription,
} from "./plan-words.ts";

/** What is left of the month grows less, and with it what a change costs. */
const AGAIN_MS = 60_000;

type Done = Answer<"changeSubscription">;
type Effective = PlanQuote["effective"];

const asked = filter("when");
const effectiveOf = (text: string): Effective | undefined =>
  text === "now" || text === "period_end" ? text : undefined;

export function PlanChange({ planId }: { readonly planId: string }) {
  const effective = effectiveOf(asked.value);
  const query = { plan_id: planId, ...(effective !== undefined && { effective }) };
  const shown = useAnswer("quoteSubscription", { query });
  const now = useAnswer("getSubscription", {});
  const [done, setDone] = useState<Done | undefined>(undefined);
  useWhileSeen(() => shown.refresh(), done === undefined ? AGAIN_MS : undefined);
  if (done !== undefined) return <WasDone of={done} />;
  const quote = shown.value.value;
  const current = now.value.value;
  if (quote === undefined || current === undefined) {
    const fault = shown.fault.value ?? now.fault.value;
    return (
      <Panel title="Change of plan">
        <FaultNote fault={fault} />
        {fault === undefined ? <Waiting /> : <Link to={["billing"]}>Back to the plans</Link>}
      </Panel>
    );
  }
  return <Review shown={shown} quote={quote} now={current} onDone={setDone} />;
}

interface ReviewProps {
  readonly shown: Shown<PlanQuote>;
  readonly quote: PlanQuote;
  readonly now: { readonly plan: Plan; readonly subscription: Subscription };
  readonly onDone: (done: Done) => void;
}

function Review({ shown, quote, now, onDone }: ReviewProps) {
  const act = useAct();
  const { plan } = quote;
  if (!quote.changes)
    return (
      <Panel title={plan.name}>
        {/* The answer of a change that was made may have been lost: both are said. */}
        <FaultNote fault={act.fault} />
        <p>Nothing would change: the organisation has {plan.name} already, and keeps it.</p>
        <div class="row">
          <Link to={["billing"]}>Back to the plans</Link>
        </div>
      </Panel>
    );
  return (
    <>
      <Panel title={titleOf(quote, now.plan)} isBusy={shown.isBusy.value && !isOf(quote, asked.value)}>
        <TakesOver quote={quote} now={now} />
        <Happens quote={quote} now={now} />
        <Amounts quote={quote} />
        {quote.lines.length > 0 && <Lines quote={quote} />}
        <Missing quote={quote} />
        <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
        <FaultNote fault={act.fault} />
        <Buttons shown={shown} quote={quote} now={now} act={act} onDone={onDone} />
      </Panel>
      <Differences now={now.plan} then={plan} />
    </>
  );
}

/** Whether a quote is of what the address asks. */
const isOf = ({ effective }: PlanQuote, text: string): boolean =>
  effectiveOf(text) === undefined || effectiveOf(text) === effective;

function titleOf({ plan }: PlanQuote, now: Plan): string {
  if (plan.id === now.id) return `Keep ${plan.name}`;
  return isFree(plan) && !isFree(now) ? `Cancel ${now.name}` : `From ${now.name} to ${plan.name}`;
}

/** Only where there is something to choose: a cheaper plan in a month that is paid for. */
function TakesOver({ quote, now }: Pick<ReviewProps, "quote" | "now">) {
  const isCheaper = quote.plan.monthly_minor < now.plan.monthly_minor;
  if (!isCheaper || now.subscription.status !== "active") return null;
  return (
    <Tabs
      label="When it takes over"
      options={[
        ["period_end", "When the month ends"],
        ["now", "Now"],
      ]}
      value={quote.effective}
      onValue={(value) => setFilters({ when: value })}
    />
  );
}

function Happens({ quote, now }: Pick<ReviewProps, "quote" | "now">) {
  const { plan, subscription } = quote;
  const fee = feeText(plan, format.value);
  const end = <When at={subscription.period_end} as="day" />;
  if (quote.effective === "period_end")
    return (
      <>
        <p>
          {plan.name} takes over on <When at={quote.effective_at} as="day" />. Until then {now.plan.name}{" "}
          stays, and nothing is taken now.
          {isFree(plan)
            ? " After that nothing is taken any more."
            : ` From then on its fee of ${fee} a month is taken from the balance.`}{" "}
          You can take this back until that day.
        </p>
        {isFree(plan) && (
          <p>Credit that was bought stays; what is left of the included credit expires on that day.</p>
        )}
      </>
    );
  if (plan.id === now.plan.id && quote.fee_minor === 0)
    return (
      <p>{plan.name} stays when the month ends, and its next fee is taken then. Nothing is taken now.</p>
    );
  if (isFree(plan))
    return (
      <p>
        {plan.name} takes over at once. Nothing is paid back for the rest of the month, until {end}. Credit
        that was bought stays.
      </p>
    );
  if (quote.fee_minor === 0)
    return (
      <p>
        {plan.name} takes over at once. Nothing is taken now, because a dearer plan is paid for until {end},
        and nothing is paid back. Then {fee} a month is taken from the balance.
      </p>
    );
  return (
    <p>
      {plan.name} takes over at once.{" "}
      {quote.prorated_bps === 10_000
        ? "Its first month is paid now, "
        : `${(quote.prorated_bps / 100).toFixed(2)} % of the month is left: what it costs more for that time is paid now, `}
      until {end}. Then {fee} a month is taken from the balance.
    </p>
  );
}

function Amounts({ quote }: { readonly quote: PlanQuote }) {
  const { fee_micro: fee, included_micro: included, available_micro: before } = quote;
  if (fee === 0 && included === 0) return null;
  return (
    <div class="figures">
      <Figure
        label="Taken from the balance now"
        value={<Money micro={fee} />}
        about={quote.currency === "USD" ? undefined : format.value.minor(quote.fee_minor, quote.currency)}
      />
      <Figure
        label="Credit granted now"
        value={<Money micro={included} />}
        about="expires when the month ends"
      />
      <Figure label="Available before" value={<Money micro={before} />} />
      <Figure label="Available after" value={<Money micro={quote.available_after_micro} />} />
    </div>
  );
}

function Lines({ quote }: { readonly quote: PlanQuote }) {
  const money = (minor: number) => format.value.minor(minor, quote.currency);
  return (
    <Table
      label="What the fee is made of"
      rows={[
        ...quote.lines.map((line, at) => ({ ...line, key: String(at) })),
        { key: "total", description: "Fee of now", amount_minor: quote.fee_minor },
      ]}
      keyOf={({ key }) => key}
      columns={[
        { head: "For", cell: ({ description }) => <span class="break">{description}</span> },
        { head: "Amount", isNumber: true, cell: ({ amount_minor: minor }) => money(minor) },
      ]}
    />
  );
}

function Missing({ quote }: { readonly quote: PlanQuote }) {
  const { missing_micro: missing } = quote;
  if (missing === 0) return null;
  return (
    <Note tone="bad">
      <Money micro={missing} /> of credit is missing for the fee.{" "}
      <Link to={["credits", "topups", "new"]} filters={{ amount: minorText(missingMinor(quote)) }}>
        Buy credit
      </Link>{" "}
      and come back: nothing is changed before.
    </Note>
  );
}

function Buttons({ shown, quote, now, act, onDone }: ReviewProps & { readonly act: Act }) {
  const change = () =>
    act.run(async () => {
      const name = `plan ${org.value?.id}`;
      const { effective } = quote;
      const what = intentOfChange(quote, effective, now.subscription);
      const key = intentKey(sessionStorage, name, what, () => crypto.randomUUID());
      // Past due or without a month that is paid, only now can be asked for; the API chooses it by itself.
      const body = {
        plan_id: quote.plan.id,
        max_fee_micro: quote.fee_micro,
        ...(effectiveOf(asked.value) !== undefined && { effective }),
      };
      try {
        const done = await call("changeSubscription", { body }, undefined, { "idempotency-key": key });
        forgetIntent(sessionStorage, name);
        onDone(done);
      } catch (error) {
        shown.refresh();
        throw error;
      }
    });
  const canDo = quote.missing_micro === 0 && isOf(quote, asked.value) && shown.fault.value === undefined;
  return (
    <div class="row">
      <Button
        kind={isFree(quote.plan) ? "danger" : "main"}
        isBusy={act.isBusy}
        disabled={!canDo}
        onClick={change}
      >
        {actText(quote, now.plan, format.value)}
      </Button>
      <Link to={["billing"]}>Leave it as it is</Link>
    </div>
  );
}

function Differences({ now, then }: { readonly now: Plan; readonly then: Plan }) {
  const rows = differences(now, then, format.value);
  if (rows.length === 0) return null;
  const isLess = rows.some((row) => row.isLess && LIMITS.some(({ name }) => name === row.name));
  return (
    <Panel title="What differs">
      <Table
        label="What differs"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { head: "What", cell: ({ name }) => name },
          { head: now.name, isNumber: true, cell: (row) => row.now },
          { head: then.name, isNumber: true, cell: (row) => <strong>{row.next}</strong> },
        ]}
      />
      {isLess && (
        <p class="quiet small">
          Keys and projects beyond a lower number keep working, and no new ones are made. Lower limits hold
          from the next call, for keys without limits of their own.
        </p>
      )}
    </Panel>
  );
}

function WasDone({ of: done }: { readonly of: Done }) {
  const { plan, subscription, invoice, effective } = done;
  return (
    <Panel title="Done">
      <Note tone="good">
        <div role="status">
          {effective === "period_end" ? (
            <>
              {plan.name} takes over on <When at={subscription.period_end} as="day" />.
            </>
          ) : (
            <>{plan.name} is in force.</>
          )}{" "}
          {done.fee_micro > 0 && (
            <>
              <Money micro={done.fee_micro} /> was taken from the balance
              {done.included_micro > 0 && (
                <>
                  , and <Money micro={done.included_micro} /> of credit was granted
                </>
              )}
              .
            </>
          )}
        </div>
      </Note>
      <div class="row links">
        {invoice !== null && <Link to={["billing", "invoices", invoice.id]}>Statement {invoice.number}</Link>}
        <Link to={["credits", "ledger"]}>Ledger</Link>
        <Link to={["billing"]}>Your plan</Link>
      </div>
    </Panel>
  );
}
