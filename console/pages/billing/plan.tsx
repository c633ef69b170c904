/** The plan in force with its month, and those that can be chosen beside it. */
import { useAnswer } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Facts } from "../../parts/facts.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import {
  featuresOf,
  feeText,
  includedText,
  isFree,
  LIMITS,
  limitText,
  type Plan,
  type Subscription,
} from "./plan-words.ts";

export function PlanTab() {
  const now = useAnswer("getSubscription", {});
  const plans = useAnswer("listPlans", {});
  const current = now.value.value;
  if (current === undefined)
    return (
      <Panel title="Your plan">
        <FaultNote fault={now.fault.value} onRetry={() => now.refresh()} />
        {now.fault.value === undefined && <Waiting />}
      </Panel>
    );
  const { plan, subscription } = current;
  const offered = plans.value.value?.data;
  const next = offered?.find(({ id }) => id === subscription.next_plan_id);
  return (
    <>
      <Panel title={`Your plan: ${plan.name}`}>
        <State plan={plan} subscription={subscription} next={next} />
        <Month plan={plan} subscription={subscription} />
        <Includes plan={plan} />
      </Panel>
      <Panel title="Plans">
        <FaultNote fault={plans.fault.value} onRetry={() => plans.refresh()} />
        {offered === undefined && plans.fault.value === undefined && <Waiting />}
        {offered !== undefined && <PlanTable plans={offered} plan={plan} subscription={subscription} />}
        <p class="quiet small">
          Fees are taken from the balance. What a change costs is shown before it is done. Requests, tokens
          and calls are those of each key that has no limits of its own.
        </p>
      </Panel>
    </>
  );
}

interface NowProps {
  readonly plan: Plan;
  readonly subscription: Subscription;
}

/** What is unusual, and what to do about it. */
function State({ plan, subscription, next }: NowProps & { readonly next: Plan | undefined }) {
  if (subscription.status === "past_due")
    return (
      <Note tone="bad">
        <p>
          The fee of {feeText(plan, format.value)} could not be taken when the month ended on{" "}
          <When at={subscription.period_end} as="day" />: there was too little credit. {plan.name} stays in
          force, without new included credit. It is tried again 1, 3 and 7 days after that; where the last try
          fails too, the organisation has the free plan.
        </p>
        {mayCall("changeSubscription") && (
          <p>
            <Link to={["credits", "topups", "new"]}>Buy credit</Link>, then{" "}
            <Link to={["billing", "plans", plan.id]}>pay the month now</Link>, or choose another plan below.
          </p>
        )}
      </Note>
    );
  if (subscription.next_plan_id === undefined) return null;
  return (
    <Note tone="warn">
      {next?.name ?? subscription.next_plan_id} takes over on <When at={subscription.period_end} as="day" />.
      Until then everything stays as it is.{" "}
      {mayCall("changeSubscription") && <Link to={["billing", "plans", plan.id]}>Keep {plan.name}</Link>}
    </Note>
  );
}

function Month({ plan, subscription }: NowProps) {
  const { money } = format.value;
  const isPaid = !isFree(plan) && subscription.status === "active";
  const stays = subscription.next_plan_id === undefined;
  return (
    <div class="figures">
      <Figure
        label="Fee a month"
        value={feeText(plan, format.value)}
        about={isFree(plan) ? "nothing is taken" : "taken from the balance"}
      />
      <Figure
        label="Credit included"
        value={plan.included_micro === 0 ? "none" : money(plan.included_micro)}
        about={plan.included_micro === 0 ? undefined : "a month; what is left of it expires"}
      />
      <Figure
        label="This month ends"
        value={<When at={subscription.period_end} as="day" />}
        about={
          <>
            it began on <When at={subscription.period_start} as="day" />
            {isPaid && stays && "; then the next fee is taken"}
          </>
        }
      />
    </div>
  );
}

function Includes({ plan }: { readonly plan: Plan }) {
  const features = featuresOf(plan);
  return (
    <Facts
      rows={[
        ...LIMITS.map((limit) => [limit.name, limitText(limit, plan, format.value)] as const),
        ["Besides", features.length === 0 ? undefined : features.join(", ")],
      ]}
    />
  );
}

function PlanTable({ plans, plan: now, subscription }: NowProps & { readonly plans: readonly Plan[] }) {
  const columns: readonly Column<Plan>[] = [
    {
      head: "Plan",
      cell: ({ id, name, description }) => (
        <span class="sentence">
          <strong>{name}</strong> {id === now.id && <Badge tone="accent">yours</Badge>}
          {id === subscription.next_plan_id && <Badge tone="warn">next</Badge>}
          <span class="plan-about small quiet">{description}</span>
        </span>
      ),
    },
    ...(mayCall("changeSubscription")
      ? [{ head: "Change", cell: (plan: Plan) => <ChangeLink to={plan} now={now} of={subscription} /> }]
      : []),
    { head: "Fee a month", isNumber: true, cell: (plan) => feeText(plan, format.value) },
    { head: "Credit included", isNumber: true, cell: (plan) => includedText(plan, format.value) },
    ...LIMITS.map((limit) => ({
      head: limit.name,
      isNumber: true,
      cell: (plan: Plan) => limitText(limit, plan, format.value),
    })),
    {
      head: "Besides",
      cell: (plan) => <span class="sentence">{featuresOf(plan).join(", ") || "–"}</span>,
    },
  ];
  return <Table label="Plans" columns={columns} rows={plans} keyOf={({ id }) => id} />;
}

interface ChangeLinkProps {
  readonly to: Plan;
  readonly now: Plan;
  readonly of: Subscription;
}

/** Where a choice of this plan would change nothing, there is no link. */
function ChangeLink({ to, now, of: subscription }: ChangeLinkProps) {
  const text = changeText(to, now, subscription);
  if (text === undefined) return <span class="quiet">–</span>;
  return (
    <Link to={["billing", "plans", to.id]} class="nowrap">
      {text}
    </Link>
  );
}

function changeText(to: Plan, now: Plan, { next_plan_id: next, status }: Subscription): string | undefined {
  if (to.id === now.id) {
    if (status === "past_due") return "Pay now";
    return next === undefined ? undefined : `Keep ${to.name}`;
  }
  if (to.id === next) return undefined;
  return isFree(to) && !isFree(now) ? "Cancel the plan" : `Change to ${to.name}`;
}
