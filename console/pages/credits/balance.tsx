/** Balance, holds, budgets and plan: what there is to spend, and how long it lasts. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { Budgets } from "./budgets.tsx";
import { useLiveCredits } from "./live-credits.ts";

/** Budgets move with spend: they are asked for again so often. */
const AGAIN_MS = 10_000;

export function Balance() {
  const credits = useLiveCredits();
  const budgets = useAnswer("getBudgets", mayCall("getBudgets") ? { query: { limit: 20 } } : undefined);
  useWhileSeen(() => budgets.refresh(), mayCall("getBudgets") ? AGAIN_MS : undefined);
  return (
    <>
      <Panel title="Balance" actions={mayCall("createTopup") && <BuyButton />}>
        <FaultNote fault={credits.fault.value} onRetry={() => credits.refresh()} />
        {credits.value.value === undefined ? (
          credits.fault.value === undefined && <Waiting />
        ) : (
          <Amounts of={credits.value.value} ahead={budgets.value.value?.credit} />
        )}
      </Panel>
      {mayCall("getBudgets") && <Budgets shown={budgets} />}
      {mayCall("getSubscription") && <Plan />}
    </>
  );
}

export const BuyButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["credits", "topups", "new"]))}>
    Buy credit
  </Button>
);

interface AmountsProps {
  readonly of: Answer<"getCredits">;
  /** How long it lasts; undefined where that is not known. */
  readonly ahead: Answer<"getBudgets">["credit"];
}

function Amounts({ of: credits, ahead }: AmountsProps) {
  const { available_micro_usd: available, held_micro_usd: held, granted_micro_usd: granted } = credits;
  return (
    <>
      {available <= 0 && (
        <Note tone="bad">
          No credit is left: calls that cost something are refused.
          {mayCall("createTopup")
            ? " Buy credit to go on."
            : " Ask an owner, an admin or billing to buy some."}
        </Note>
      )}
      <div class="figures" aria-live="off">
        <Figure label="Available" value={<Money micro={available} />} about={<InCurrency of={credits} />} />
        <Figure label="Held" value={<Money micro={held} />} about="by calls under way" />
        <Figure label="Balance" value={<Money micro={available + held} />} about="available and held" />
        <Figure label="Granted" value={<Money micro={granted} />} about="ever, without payment" />
        {ahead !== undefined && <Lasts ahead={ahead} />}
      </div>
    </>
  );
}

function InCurrency({
  of: { display, currency, fx_rate: rate, fx_day: day },
}: {
  readonly of: Answer<"getCredits">;
}) {
  if (currency === "USD") return null;
  const amount = Number(display.amount);
  return (
    <>
      {format.value.minor(Math.round(amount * 100), display.currency)} before tax, at {Number(rate)} of{" "}
      {format.value.day(`${day}T12:00:00Z`)}
    </>
  );
}

function Lasts({ ahead }: { readonly ahead: NonNullable<AmountsProps["ahead"]> }) {
  const { forecast_days_left: days, empty_at: at } = ahead;
  if (days === null || at === null)
    return <Figure label="Lasts" value="long" about="as spent in the last 7 days" />;
  return (
    <Figure
      label="Lasts"
      value={`${format.value.count(days)} days`}
      about={
        <>
          until <When at={at} as="day" />, as spent in the last 7 days
        </>
      }
    />
  );
}

/** What is taken from the balance next; the page "Billing" has the rest. */
function Plan() {
  const shown = useAnswer("getSubscription", {});
  const now = shown.value.value;
  if (now === undefined) return <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />;
  const { plan, subscription } = now;
  const { minor, money } = format.value;
  const end = <When at={subscription.period_end} as="day" />;
  return (
    <Panel title={`Plan: ${plan.name}`} actions={<Link to={["billing"]}>Plan and limits</Link>}>
      {subscription.status === "past_due" && (
        <Note tone="bad">
          Its fee could not be taken: there was too little credit. Buy credit, then{" "}
          <Link to={["billing"]}>pay it</Link>.
        </Note>
      )}
      {plan.monthly_minor === 0 ? (
        <p>It takes nothing from the balance.</p>
      ) : (
        <p>
          {subscription.next_plan_id === undefined ? (
            <>
              {minor(plan.monthly_minor, plan.currency)} is taken from the balance on {end}
              {plan.included_micro > 0 && <>, and {money(plan.included_micro)} of credit is granted</>}.
            </>
          ) : (
            <>Another plan takes over on {end}.</>
          )}
        </p>
      )}
    </Panel>
  );
}
