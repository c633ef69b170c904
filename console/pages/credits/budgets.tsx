/** Budgets in force as bars, the one nearest to its end first, each with what its window will have cost. */
import { useState } from "preact/hooks";
import type { Shown } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { Button } from "../../parts/button.tsx";
import { Bar } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";

type Budget = Answer<"getBudgets">["data"][number];

const SCOPES = { org: "The organisation", project: "Project", key: "Key" } as const;

/** Those nearest to their end; the others once they are asked for. */
const FIRST = 6;

export function Budgets({ shown }: { readonly shown: Shown<Answer<"getBudgets">> }) {
  const [isWhole, setWhole] = useState(false);
  const answer = shown.value.value;
  const hidden = isWhole ? 0 : (answer?.data.length ?? 0) - FIRST;
  return (
    <Panel title="Budgets">
      <FaultNote fault={shown.fault.value} onRetry={() => shown.refresh()} />
      {answer === undefined && shown.fault.value === undefined && <Waiting />}
      {answer?.data.length === 0 && (
        <p class="quiet">
          No budget is set. A key, a project or the organisation can have one, beyond which calls are refused.
        </p>
      )}
      {answer !== undefined && answer.data.length > 0 && (
        <div class="stack">
          {answer.data.slice(0, isWhole ? undefined : FIRST).map((budget) => (
            <BudgetBar key={`${budget.scope} ${budget.id}`} of={budget} />
          ))}
          {hidden > 0 && (
            <div class="row">
              <Button onClick={() => setWhole(true)}>Show {hidden} more</Button>
            </div>
          )}
          <p class="quiet small">
            {answer.rate === "recent"
              ? "Expected: as spent in the last 7 days, of a key in the last 24 hours."
              : "Expected: as spent in the window so far, for analytics does not answer."}
            {answer.more && " Budgets that are further from their end are left out."}
          </p>
        </div>
      )}
    </Panel>
  );
}

function BudgetBar({ of: budget }: { readonly of: Budget }) {
  const { money, shortMoney } = format.value;
  const { limit_micro: limit, spent_micro: spent, forecast_micro: expected, reached_at: reached } = budget;
  return (
    <Bar
      label={<Name of={budget} />}
      value={`${money(spent)} of ${money(limit)}`}
      done={spent / limit}
      forecast={expected / limit}
      about={
        <>
          {shortMoney(expected)} expected at the end of the {budget.scope === "key" ? "day" : "month"},{" "}
          <When at={budget.window.to} />
          {reached !== null && spent < limit && (
            <>
              {"; used up "}
              <When at={reached} />
            </>
          )}
          {budget.hard ? "; calls beyond it are refused" : "; it only tells"}
        </>
      }
    />
  );
}

function Name({ of: { scope, id, name } }: { readonly of: Budget }) {
  const text = `${SCOPES[scope]}${name === "" || scope === "org" ? "" : ` ${name}`}`;
  return scope === "key" ? <Link to={["keys", id]}>{text}</Link> : text;
}
