/** The list of projects: what each spent, beside its budget; and the organisation's own budget above it. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { filter, go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { ShareBar } from "../../parts/share-bar.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { BudgetBar } from "./budget-bar.tsx";
import type { Project } from "./project-values.ts";

/** Rows of the page; a search finds the others. */
const MOST = 200;
/** From so many on there is something to search. */
const MANY = 8;
/** As many budgets as one answer has. */
const MOST_BUDGETS = 200;

const q = filter("q");

export function ProjectList() {
  const list = useAnswer("listProjects", {});
  const budgets = useAnswer(
    "getBudgets",
    mayCall("getBudgets") ? { query: { limit: MOST_BUDGETS } } : undefined,
  );
  const projects = list.value.value?.data;
  const ofOrg = budgets.value.value?.data.find(({ scope }) => scope === "org");
  return (
    <Page
      title="Projects"
      about={`A project has keys and a budget of its own. Spend is that of ${format.value.place.zone}'s day and month so far.`}
      actions={mayCall("createProject") && <NewButton />}
    >
      {ofOrg !== undefined && (
        <Panel title="All projects together">
          <BudgetBar of={ofOrg} label="Budget of the organisation, by the month" />
        </Panel>
      )}
      <Panel title="Projects" actions={(projects?.length ?? 0) > MANY && <Search />}>
        <FaultNote fault={list.fault.value} onRetry={list.refresh} />
        {projects === undefined && list.fault.value === undefined && <Waiting />}
        {projects !== undefined && <Found all={projects} />}
      </Panel>
    </Page>
  );
}

const NewButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["projects", "new"]))}>
    New project
  </Button>
);

function Search() {
  const [text, setText] = useFilterText("q");
  return (
    <search aria-label="Projects">
      <TextField label="Name or short name" type="search" value={text} onValue={setText} maxLength={100} />
    </search>
  );
}

function Found({ all }: { readonly all: Answer<"listProjects">["data"] }) {
  const wanted = q.value.toLowerCase();
  const found = all.filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(wanted));
  if (found.length === 0) {
    return (
      <div class="empty">
        <p>
          {all.length === 0 ? "There is no project yet. A key belongs to one." : "No project is like this."}
        </p>
        {all.length === 0 && mayCall("createProject") && <NewButton />}
      </div>
    );
  }
  return (
    <>
      <Table label="Projects" columns={COLUMNS} rows={found.slice(0, MOST)} keyOf={({ id }) => id} />
      {found.length > MOST && (
        <p class="quiet small">
          {MOST} of {format.value.count(found.length)} are shown: search for others.
        </p>
      )}
    </>
  );
}

const COLUMNS: readonly Column<Project>[] = [
  {
    head: "Name",
    cell: ({ id, name, slug, environment }) => (
      <>
        <Link to={["projects", id]} class="break">
          {name}
        </Link>
        <div class="row small quiet">
          <code>{slug}</code>
          {environment === "test" && <Badge>test</Badge>}
        </div>
      </>
    ),
  },
  { head: "Today", isNumber: true, cell: ({ spend_today_micro: micro }) => <Money micro={micro} /> },
  { head: "This month", isNumber: true, cell: ({ spend_month_micro: micro }) => <Money micro={micro} /> },
  { head: "Budget of the month", cell: (project) => <OwnBudget of={project} /> },
  {
    head: "Keys",
    cell: ({ id }) =>
      mayCall("listKeys") && (
        <Link to={["keys"]} filters={{ project_id: id }}>
          Keys
        </Link>
      ),
  },
  { head: "Made", cell: ({ created_at: at }) => <When at={at} as="day" /> },
];

function OwnBudget({ of: { budget, spend_month_micro: spent } }: { readonly of: Project }) {
  const { monthly_micro: limit, hard } = budget;
  if (limit === 0) return <span class="quiet">none of its own</span>;
  return (
    <div class="own-budget">
      <span class="nowrap">
        {format.value.money(limit)} <span class="small quiet">{hard ? "refuses" : "only tells"}</span>
      </span>
      <ShareBar share={spent / limit} />
    </div>
  );
}
