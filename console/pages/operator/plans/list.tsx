/** The plans in force, with how many organisations are on each. */
import { useAnswer } from "../../../api/answers.ts";
import type { Answer } from "../../../api/call.ts";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { format } from "../../../text/org-format.ts";

export function PlanList() {
  const answer = useAnswer("operatorListPlans", {});
  const plans = answer.value.value?.data;
  return (
    <Page
      title="Plans"
      about={
        <>
          Limits of each key, as <code>plans.yaml</code> has them. They are changed there, and read at a
          start.
        </>
      }
    >
      <Panel title="In force" isBusy={plans !== undefined && answer.isBusy.value}>
        <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
        {plans === undefined && answer.fault.value === undefined && <Waiting />}
        {plans !== undefined && <Table label="Plans" columns={COLUMNS} rows={plans} keyOf={({ id }) => id} />}
      </Panel>
    </Page>
  );
}

type Plan = Answer<"operatorListPlans">["data"][number];

const limit = (of: (plan: Plan) => number) => (plan: Plan) => {
  const value = of(plan);
  return value === 0 ? <span class="quiet">no limit</span> : format.value.count(value);
};

const COLUMNS: readonly Column<Plan>[] = [
  {
    head: "Plan",
    cell: ({ id, default: isDefault }) => (
      <span class="row">
        <Link to={["plans", id]}>{id}</Link>
        {isDefault && <Badge>of new organisations</Badge>}
      </span>
    ),
  },
  { head: "Organisations", isNumber: true, cell: ({ orgs }) => format.value.count(orgs) },
  { head: "Requests a minute", isNumber: true, cell: limit(({ rpm }) => rpm) },
  { head: "Tokens a minute", isNumber: true, cell: limit(({ tpm }) => tpm) },
  { head: "Calls at once", isNumber: true, cell: limit(({ concurrency }) => concurrency) },
  { head: "Keys", isNumber: true, cell: ({ keys }) => format.value.count(keys) },
  { head: "Projects", isNumber: true, cell: ({ projects }) => format.value.count(projects) },
  {
    head: "Raised at once up to",
    cell: ({ auto_approve: times }) =>
      times === 0 ? <span class="quiet">never</span> : <span class="nowrap">{times} times the plan</span>,
  },
  {
    head: "Beside",
    cell: ({ features }) => {
      const has = [
        ...(features.sso ? ["provisioning by a directory"] : []),
        ...(features.priority_support ? ["tickets come first"] : []),
      ];
      return has.length === 0 ? <span class="quiet">–</span> : <span class="break">{has.join(", ")}</span>;
    },
  },
];
