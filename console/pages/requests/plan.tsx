/** The plan of a call as it was considered: which endpoints, in which order and why, and why the others were left out. */
import type { Answer } from "../../api/call.ts";
import { Facts } from "../../parts/facts.tsx";
import { Badge } from "../../parts/note.tsx";
import { Table } from "../../parts/table.tsx";
import { format } from "../../text/org-format.ts";

type Detail = Answer<"getRequest">;
type Considered = NonNullable<Detail["plan"]>["considered"][number];

export function Plan({ detail }: { readonly detail: Detail }) {
  const { plan } = detail;
  if (plan === null) {
    return detail.route_trace === "" ? (
      <p class="quiet">No endpoint was considered.</p>
    ) : (
      <pre class="break">{detail.route_trace}</pre>
    );
  }
  const isAsked = plan.considered.some(({ attempted }) => attempted);
  return (
    <>
      <Facts
        rows={[
          ["Policy", plan.policy === null ? "none" : `${plan.policy}, version ${plan.policy_version}`],
          ["Rule", plan.policy === null ? undefined : (plan.rule ?? "none matched")],
          ["Sorted by", typeof plan.sort === "string" ? plan.sort : JSON.stringify(plan.sort)],
        ]}
      />
      <Table
        label="Endpoints that were considered"
        rows={plan.considered}
        keyOf={(each) => each.endpoint_id}
        columns={[
          { head: "Order", cell: (each) => each.order ?? "–" },
          { head: "Endpoint", cell: (each) => <span class="break">{each.endpoint_id}</span> },
          {
            head: "",
            cell: (each) => <State considered={each} isGood={detail.status === "ok"} isAsked={isAsked} />,
          },
          {
            head: "Why",
            cell: (each) => <span class="sentence">{each.excluded_because ?? each.reason}</span>,
          },
          {
            head: "Expected",
            isNumber: true,
            cell: (each) =>
              each.est_cost_micro === undefined ? "–" : format.value.money(each.est_cost_micro),
          },
        ]}
      />
      {plan.notes.map((note) => (
        <p key={note} class="small quiet break">
          {note}
        </p>
      ))}
    </>
  );
}

interface StateProps {
  readonly considered: Considered;
  /** The call was answered. */
  readonly isGood: boolean;
  /** Some endpoint was asked. */
  readonly isAsked: boolean;
}

function State({ considered, isGood, isAsked }: StateProps) {
  if (considered.chosen)
    return <Badge tone={isGood ? "good" : "bad"}>{isGood ? "answered" : "asked last"}</Badge>;
  if (considered.attempted) return <Badge tone="bad">failed</Badge>;
  if (considered.excluded !== null) return <Badge>{considered.excluded}</Badge>;
  return <Badge>{isAsked ? "not needed" : "not asked"}</Badge>;
}
