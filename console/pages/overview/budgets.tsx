/** Budgets in force and the credit, with where they lead at the present rate. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Bar } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { creditState, SCOPES } from "./budget-words.ts";

type Budgets = Answer<"getBudgets">;
type Budget = Budgets["data"][number];

const YEAR_DAYS = 365;
/** Bars of the page. */
const MOST = 8;

export function BudgetsPanel() {
  const budgets = useAnswer("getBudgets", { query: { limit: MOST } });
  const shown = budgets.value.value;
  return (
    <Panel title="Budgets and credit" isBusy={shown !== undefined && budgets.isBusy.value}>
      <FaultNote fault={budgets.fault.value} onRetry={() => budgets.refresh()} />
      {shown === undefined ? budgets.fault.value === undefined && <Waiting /> : <Bars budgets={shown} />}
    </Panel>
  );
}

function Bars({ budgets: { data, more, credit, rate } }: { readonly budgets: Budgets }) {
  return (
    <>
      {credit !== undefined && <Credit credit={credit} />}
      {data.map((budget) => (
        <BudgetBar key={`${budget.scope} ${budget.id}`} budget={budget} />
      ))}
      {data.length === 0 && (
        <p class="quiet">
          No budget is set. A budget of a key ends its spending for the day
          {mayCall("listKeys") ? (
            <>
              : set one at <Link to={["keys"]}>Keys</Link>.
            </>
          ) : (
            "."
          )}
        </p>
      )}
      {data.length > 0 && (
        <p class="small quiet">
          {more && "Further budgets are less used. "}
          The pale part is what the window will have cost at the rate of{" "}
          {rate === "recent" ? "the last seven days, of keys the last 24 hours" : "the window so far"}.
        </p>
      )}
    </>
  );
}

function Credit({ credit }: { readonly credit: NonNullable<Budgets["credit"]> }) {
  const { balance_micro: balance, held_micro: held, available_micro: available } = credit;
  const { forecast_days_left: days, empty_at: emptyAt } = credit;
  const shown = format.value;
  return (
    <Bar
      label={mayCall("getCredits") ? <Link to={["credits"]}>Credit</Link> : "Credit"}
      value={`${shown.money(available)} available`}
      done={balance > 0 ? held / balance : 1}
      what="held"
      state={creditState(available, days)}
      about={
        <>
          {held > 0 && `${shown.money(held)} held by calls under way. `}
          {available <= 0 ? (
            "Nothing is left: calls that cost money are refused."
          ) : emptyAt === null || (days ?? 0) > YEAR_DAYS ? (
            "At this rate it lasts more than a year."
          ) : (
            <>
              At this rate it lasts until <When at={emptyAt} as="day" />.
            </>
          )}
        </>
      }
    />
  );
}

function BudgetBar({ budget }: { readonly budget: Budget }) {
  const { scope, id, name, hard, window, limit_micro: limit, spent_micro: spent } = budget;
  const { forecast_micro: ahead, reached_at: reachedAt, held_micro: held = 0 } = budget;
  const shown = format.value;
  const { title, per, filter } = SCOPES[scope];
  const text = `${title}${name === "" ? "" : ` ${name}`}, ${per}`;
  return (
    <Bar
      label={
        filter === undefined ? (
          text
        ) : (
          <Link to={["overview"]} filters={{ [filter]: id, range: scope === "key" ? "24h" : "30d" }}>
            {text}
          </Link>
        )
      }
      value={`${shown.money(spent)} of ${shown.money(limit)}`}
      done={spent / Math.max(1, limit)}
      forecast={ahead / Math.max(1, limit)}
      about={
        <>
          {spent >= limit ? (
            `Used up${hard ? ": further calls are refused" : ", and only told: it is no hard limit"}. `
          ) : reachedAt === null ? (
            `${shown.shortMoney(ahead)} at the end, at this rate. `
          ) : (
            <>
              Used up <When at={reachedAt} /> at this rate
              {hard ? "; calls are then refused" : ""}.{" "}
            </>
          )}
          {held > 0 && `${shown.money(held)} held. `}
          It begins anew <When at={window.to} />.
        </>
      }
    />
  );
}
