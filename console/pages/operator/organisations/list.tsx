/** All organisations, newest first: searched by id, slug, name or billing address. */
import { type Row, usePages } from "../../../api/answers.ts";
import { useFilterText } from "../../../app/filter-text.ts";
import { filter, setFilters } from "../../../app/router.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice, TextField } from "../../../parts/field.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { isStatus, STATUS_OPTIONS, STATUS_TONES } from "./org-words.ts";

const PAGE = 50;
const [q, status] = [filter("q"), filter("status")];

export function OrgList() {
  const chosen = {
    ...(q.value !== "" && { q: q.value }),
    ...(isStatus(status.value) && { status: status.value }),
  };
  const list = usePages("operatorListOrgs", { query: { limit: PAGE, ...chosen } });
  const isFiltered = Object.keys(chosen).length > 0;
  return (
    <Page title="Organisations" about="Everyone who uses this installation, newest first.">
      <Panel title="All organisations">
        <Filters />
        <ListTable
          label="Organisations"
          list={list}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          empty={
            isFiltered ? (
              <>
                <p>
                  {list.hasMore.value
                    ? "None is like this among those looked at so far. Show more to look further."
                    : "No organisation is like this."}
                </p>
                <Button onClick={() => setFilters({ q: undefined, status: undefined })}>Show all</Button>
              </>
            ) : (
              <p>There is no organisation yet. Whoever signs in first owns the first one.</p>
            )
          }
        />
      </Panel>
    </Page>
  );
}

function Filters() {
  const [text, setText] = useFilterText("q");
  return (
    <search class="filters" aria-label="Organisations">
      <TextField
        label="Name, slug, id, or billing e-mail"
        type="search"
        value={text}
        onValue={setText}
        maxLength={200}
      />
      <Choice
        label="Status"
        value={status.value}
        onValue={(value) => setFilters({ status: value })}
        options={STATUS_OPTIONS}
      />
    </search>
  );
}

const COLUMNS: readonly Column<Row<"operatorListOrgs">>[] = [
  {
    head: "Name",
    cell: ({ id, name, slug }) => (
      <>
        <Link to={["organisations", id]} class="break">
          {name}
        </Link>
        <div class="small quiet break">{slug}</div>
      </>
    ),
  },
  { head: "Status", cell: ({ status: now }) => <Badge tone={STATUS_TONES[now]}>{now}</Badge> },
  { head: "Plan", cell: ({ plan_id: plan }) => <Link to={["plans", plan]}>{plan}</Link> },
  { head: "Country", cell: ({ billing_country: country }) => country },
  {
    head: "Billing e-mail",
    cell: ({ billing_email: email }) =>
      email === "" ? <span class="quiet">none</span> : <span class="break">{email}</span>,
  },
  { head: "Made", cell: ({ created_at: at }) => <When at={at} as="day" /> },
];
