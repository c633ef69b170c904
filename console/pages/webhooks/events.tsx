/** What happened in the org in the last 30 days, whether a webhook was told or not. Filters are in the address. */
import { type Row, usePages } from "../../api/answers.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { filter, setFilters } from "../../app/router.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Place } from "../../parts/place.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { subjectOf } from "./event-subject.ts";
import { EVENT_GROUPS, EVENT_WORDS, isEventType } from "./event-words.ts";
import { Parts } from "./parts.tsx";

const [type, target] = [filter("type"), filter("target")];

export function Events() {
  const list = usePages("listEvents", {
    query: {
      limit: 50,
      ...(isEventType(type.value) && { type: type.value }),
      ...(target.value !== "" && { target: target.value.slice(0, 100) }),
    },
  });
  const isFiltered = type.value !== "" || target.value !== "";
  return (
    <Page
      title="Webhooks and events"
      about="What happened in the last 30 days, newest first, whether a webhook was told or not."
    >
      <Parts current="events" />
      <Panel title="Events" actions={<Filters />}>
        <ListTable
          label="Events"
          list={list}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          empty={isFiltered ? <NoneFits /> : <p>Nothing happened in the last 30 days.</p>}
        />
      </Panel>
    </Page>
  );
}

const NoneFits = () => (
  <>
    <p>No event of the last 30 days fits these filters.</p>
    <Button onClick={() => setFilters({ type: undefined, target: undefined })}>Show all events</Button>
  </>
);

const TYPES = [
  ["", "Anything"],
  ...EVENT_GROUPS.flatMap(([, types]) => types.map((each) => [each, EVENT_WORDS[each]] as const)),
  ["webhook.test", EVENT_WORDS["webhook.test"]],
] as const;

function Filters() {
  const [text, setText] = useFilterText("target");
  return (
    <search class="filters" aria-label="Events">
      <Choice
        label="What happened"
        value={type.value}
        onValue={(value) => setFilters({ type: value })}
        options={TYPES}
      />
      <TextField
        label="About: the id of a key, a person, …"
        type="search"
        value={text}
        onValue={setText}
        maxLength={100}
      />
    </search>
  );
}

const COLUMNS: readonly Column<Row<"listEvents">>[] = [
  {
    head: "When",
    cell: ({ id, created_at: at }) => (
      <Link to={["webhooks", "events", id]}>
        <When at={at} />
      </Link>
    ),
  },
  {
    head: "What happened",
    cell: (row) => (
      <>
        <span class="break">{EVENT_WORDS[row.type]}</span>
        <code class="small quiet">{row.type}</code>
      </>
    ),
  },
  {
    head: "About",
    cell: (row) => {
      const subject = subjectOf(row);
      return subject === undefined ? <span class="quiet">–</span> : <Place {...subject} />;
    },
  },
];
