/** A budget of a month with what it will have cost at this rate, as the API foresees it. */
import type { ComponentChildren } from "preact";
import type { Answer } from "../../api/call.ts";
import { Bar } from "../../parts/figure.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";

export type ForeseenBudget = Answer<"getBudgets">["data"][number];

interface BudgetBarProps {
  readonly of: ForeseenBudget;
  readonly label: ComponentChildren;
}

export function BudgetBar({ of: budget, label }: BudgetBarProps) {
  const { money, shortMoney } = format.value;
  const { limit_micro: limit, spent_micro: spent, forecast_micro: ahead, reached_at: reached } = budget;
  return (
    <Bar
      label={label}
      value={`${money(spent)} of ${money(limit)}`}
      done={spent / limit}
      forecast={ahead / limit}
      about={
        <>
          {spent >= limit ? (
            "Used up. "
          ) : reached === null ? (
            `${shortMoney(ahead)} at the end of the month, at this rate. `
          ) : (
            <>
              Used up <When at={reached} /> at this rate.{" "}
            </>
          )}
          {budget.hard ? "Calls beyond it are refused. " : "It only tells: calls go on. "}
          It begins anew <When at={budget.window.to} />.
        </>
      }
    />
  );
}
