/** Why a call was refused or failed, as its client was told, and what to do about it. */
import type { Answer } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { type Advice, adviceOn, type BudgetFigures, budgetOf } from "./refusal-advice.ts";

type Detail = Answer<"getRequest">;

/** Nothing of a call that went well. */
export function Why({ detail }: { readonly detail: Detail }) {
  const { error, status } = detail;
  if (error === null) return null;
  const budget = budgetOf(error);
  const advice = adviceOn(error, detail.key_id);
  const { upstream, retry_after_ms: waitMs } = error;
  return (
    <Panel title={status === "rejected" ? "Why it was refused" : "Why it failed"}>
      <Note tone="bad">
        <span class="break">
          {error.message ?? "The words may quote the request, and are not kept or not for you to read."}
        </span>
      </Note>
      <Facts
        rows={[
          ["What to do", advice && <ToDo key="advice" of={advice} />],
          ["Budget", budget && <BudgetText key="budget" of={budget} />],
          ["Begins anew", budget && <When key="anew" at={budget.resetsAt} />],
          ["Again after", waitMs === undefined ? undefined : format.value.duration(waitMs)],
          ["Field", error.param ?? undefined],
          ["Code", `${error.code}, HTTP ${error.status}`],
          [
            "Provider",
            upstream && `${upstream.provider}, HTTP ${upstream.http_status || "without an answer"}`,
          ],
        ]}
      />
    </Panel>
  );
}

const ToDo = ({ of: { text, page } }: { readonly of: Advice }) => (
  <>
    {text}{" "}
    {page !== undefined && opens(page.to) && (
      <Link to={page.to} class="break">
        {page.title}
      </Link>
    )}
  </>
);

function BudgetText({ of: { whose, limit, spent, held, required } }: { readonly of: BudgetFigures }) {
  const { money } = format.value;
  const parts = [
    `${whose}: ${money(spent)} of ${money(limit)} spent`,
    held > 0 && `${money(held)} held by calls under way`,
    `this call may cost up to ${money(required)}`,
  ];
  return <>{parts.filter(Boolean).join(", ")}</>;
}

/** Whether the reader's role opens a page that is named. */
function opens([page]: readonly string[]): boolean {
  if (page === "keys") return mayCall("getKey");
  return page === "credits" ? mayCall("getCredits") : mayCall("listModels");
}
