/** Who is on a plan, and whose keys have more than it gives. */
import { type Row, usePages } from "../../../api/answers.ts";
import { filter, setFilters } from "../../../app/router.ts";
import { Check } from "../../../parts/field.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { format } from "../../../text/org-format.ts";
import { STATUS_TONES } from "../organisations/org-words.ts";

const PAGE = 50;
const raised = filter("raised");

export function PlanPage({ id }: { readonly id: string }) {
  const isRaised = raised.value === "true";
  const list = usePages("operatorListPlanOrgs", {
    params: { id },
    query: { limit: PAGE, ...(isRaised && { raised: "true" }) },
  });
  return (
    <Page title={`Plan ${id}`} about={<Link to={["plans"]}>All plans</Link>}>
      <Panel title="Organisations on it">
        <Check
          label="Only those with a key that has more requests a minute than the plan gives"
          value={isRaised}
          onValue={(value) => setFilters({ raised: value ? "true" : undefined })}
        />
        <ListTable
          label="Organisations on the plan"
          list={list}
          keyOf={({ id: each }) => each}
          columns={COLUMNS}
          empty={
            <p>
              {isRaised
                ? list.hasMore.value
                  ? "None has such a key among those looked at so far. Show more to look further."
                  : "No key has more than the plan gives."
                : "No organisation is on it."}
            </p>
          }
        />
      </Panel>
    </Page>
  );
}

/** Keys of one row: a longer list is the organisation's own to read. */
const MOST_KEYS = 5;

const COLUMNS: readonly Column<Row<"operatorListPlanOrgs">>[] = [
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
  { head: "Status", cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
  {
    head: "Keys with more than it gives",
    cell: ({ raised: keys }) =>
      keys.length === 0 ? (
        <span class="quiet">none</span>
      ) : (
        <>
          {keys.slice(0, MOST_KEYS).map(({ key_id: key, name, rpm }) => (
            <div key={key} class="break">
              {name}: {format.value.count(rpm)} requests a minute
            </div>
          ))}
          {keys.length > MOST_KEYS && (
            <div class="small quiet">{format.value.count(keys.length - MOST_KEYS)} more</div>
          )}
        </>
      ),
  },
];
