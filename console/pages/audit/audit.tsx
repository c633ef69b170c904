/** The page "Audit": who did what to what, from where, newest first. Filters are in the address. */
import { usePages } from "../../api/answers.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { query, setFilters } from "../../app/router.ts";
import { Button } from "../../parts/button.tsx";
import { DayRange } from "../../parts/day-range.tsx";
import { Choice, type Option, TextField } from "../../parts/field.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { ListTable } from "../../parts/table.tsx";
import { dayOf, daysAfter } from "../../text/days.ts";
import { format } from "../../text/org-format.ts";
import { chosenFilters, FILTERS, questionOf } from "./audit-filters.ts";
import { ACT_OPTIONS, ACTOR_OPTIONS } from "./audit-words.ts";
import { columnsOf, namesIn } from "./entry.tsx";
import { useNames } from "./names.ts";

/** Days of a range, before one is chosen. */
const USUAL_DAYS = 7;

const WITHIN: readonly Option[] = [
  ["", "Last 400 days"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
  ["90d", "Last 90 days"],
  ["custom", "From day to day"],
];

export function Audit() {
  const filters = chosenFilters(query.value);
  const list = usePages("listAudit", { query: questionOf(filters, Date.now(), format.value.place.zone) });
  const names = useNames();
  const isFiltered = FILTERS.some((name) => filters[name] !== "");
  return (
    <Page
      title="Audit"
      about={`Whatever changed something in the organisation in the last 400 days, times of ${format.value.place.zone}.`}
    >
      <Panel title="Filters" actions={isFiltered && <Clear />}>
        <Filters />
      </Panel>
      <Panel title="Who did what">
        <ListTable
          label="Audit"
          list={list}
          keyOf={({ id }) => id}
          columns={columnsOf(namesIn(list.rows.value, names))}
          empty={
            isFiltered ? <p>Nothing fits these filters.</p> : <p>Nothing was changed in the last 400 days.</p>
          }
        />
      </Panel>
    </Page>
  );
}

const Clear = () => (
  <Button onClick={() => setFilters(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}>
    Take all out
  </Button>
);

function chooseWithin(within: string): void {
  const to = dayOf(Date.now(), format.value.place.zone);
  const days = { from: daysAfter(to, 1 - USUAL_DAYS), to };
  setFilters({ from: "", to: "", within, ...(within === "custom" && days) });
}

function Filters() {
  const { by, act, within, from, to } = chosenFilters(query.value);
  const [actor, setActor] = useFilterText("actor");
  const [target, setTarget] = useFilterText("target");
  return (
    <search class="feed-filters" aria-label="Audit">
      <Choice label="Who" value={by} onValue={(value) => setFilters({ by: value })} options={ACTOR_OPTIONS} />
      <TextField
        label="Id of a person or a key"
        type="search"
        value={actor}
        onValue={setActor}
        maxLength={100}
      />
      <Choice
        label="About"
        value={act}
        onValue={(value) => setFilters({ act: value })}
        options={withOwn(act)}
      />
      <TextField
        label="Id of what was changed"
        type="search"
        value={target}
        onValue={setTarget}
        maxLength={100}
      />
      <Choice label="When" value={within} onValue={chooseWithin} options={WITHIN} />
      {within === "custom" && <DayRange from={from} to={to} onChange={setFilters} />}
    </search>
  );
}

/** An address may filter by a single act, which the list does not offer. */
const withOwn = (act: string): readonly Option[] =>
  ACT_OPTIONS.some(([value]) => value === act) ? ACT_OPTIONS : [...ACT_OPTIONS, [act, act] as const];
