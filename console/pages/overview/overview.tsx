/** The page "Overview": what was spent, on what, how well it went, and what needs somebody. */
import { useEffect } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { query } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { AttentionPanel } from "./attention.tsx";
import { BudgetsPanel } from "./budgets.tsx";
import { CustomRange, FilterChips, RangeTabs } from "./filters.tsx";
import type { Usage } from "./metrics.ts";
import { OverTime } from "./over-time.tsx";
import { callsOf, filtersOf, rangeOf, usageQuery } from "./range.ts";
import { TopGroups } from "./top-groups.tsx";
import { TotalFigures } from "./totals.tsx";

/** Figures are asked for again so often, while the page is looked at. */
const AGAIN_MS = 60_000;

export function Overview() {
  const asked = usageQuery(query.value, format.value.place.zone);
  const usage = useAnswer("getUsage", asked && { query: asked });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") usage.refresh();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [usage]);
  const shown = usage.value.value;
  remember(shown);
  return (
    <Page
      title="Overview"
      actions={
        <>
          <RangeTabs />
          <Button onClick={() => usage.refresh()} isBusy={usage.isBusy.value}>
            Refresh
          </Button>
        </>
      }
      about={shown && <About usage={shown} />}
    >
      <CustomRange />
      <FilterChips nameOf={(id) => names.get(id)} />
      <FaultNote fault={usage.fault.value} onRetry={() => usage.refresh()} />
      {shown === undefined ? (
        usage.fault.value === undefined && asked !== undefined && <Waiting />
      ) : (
        <Sums usage={shown} isBusy={usage.isBusy.value} />
      )}
      <div class="columns">
        <AttentionPanel />
        {mayCall("getBudgets") && <BudgetsPanel />}
      </div>
      {shown !== undefined && !isQuiet(shown) && (
        <TopGroups usage={shown} isBusy={usage.isBusy.value} calls={callsOf(query.value)} />
      )}
    </Page>
  );
}

/** What ids are called, as groups of the page have told it: the address has the id alone. */
const names = new Map<string, string>();

function remember(usage: Usage | undefined): void {
  for (const { key, name } of usage?.groups ?? []) if (name !== "") names.set(key, name);
}

function About({ usage: { range, compare } }: { readonly usage: Usage }) {
  return (
    <>
      <When at={range.from} /> to <When at={range.to} />, {format.value.place.zone}
      {compare !== undefined && <>; compared with as long a time before</>}.
    </>
  );
}

/** No call in the range, and none in the one before. */
const isQuiet = ({ totals, compare }: Usage): boolean =>
  totals.requests === 0 && (compare?.totals.requests ?? 0) === 0;

function Sums({ usage, isBusy }: { readonly usage: Usage; readonly isBusy: boolean }) {
  const missing = usage.incomplete_since;
  if (isQuiet(usage)) return <Quiet isFiltered={Object.keys(filtersOf(query.value)).length > 0} />;
  return (
    <>
      {missing !== undefined && (
        <Note tone="warn">
          Calls since <When at={missing} /> are not all counted yet.
        </Note>
      )}
      <Panel title="In this range" isBusy={isBusy}>
        <TotalFigures usage={usage} failed={{ ...callsOf(query.value), status: "failed" }} />
      </Panel>
      <OverTime usage={usage} isBusy={isBusy} />
    </>
  );
}

/** Where there were no calls: what makes one. */
function Quiet({ isFiltered }: { readonly isFiltered: boolean }) {
  const isLong = rangeOf(query.value) === "90d";
  return (
    <Panel title="No calls in this range">
      <div class="empty">
        <p>
          {isFiltered
            ? "No call passes these filters. Take one out, or choose a longer range."
            : isLong
              ? "Make the first call: it is shown here as soon as it ends."
              : "Make a call, or choose a longer range."}
        </p>
        <div class="row">
          {mayCall("createKey") && (
            <Link class="button" to={["playground"]}>
              Try a model in the playground
            </Link>
          )}
          {mayCall("listKeys") && (
            <Link class="button" to={["setup"]}>
              Set up a client
            </Link>
          )}
        </div>
      </div>
    </Panel>
  );
}
