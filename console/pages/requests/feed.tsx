/** The requests of the org, newest first, with filters that are in the address. */
import { type Row, usePages } from "../../api/answers.ts";
import { query, setFilters } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { DayRange } from "../../parts/day-range.tsx";
import { Choice, type Option, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { dayOf, daysAfter } from "../../text/days.ts";
import { format } from "../../text/org-format.ts";
import { CallStatus } from "./call-status.tsx";
import { chosenFilters, FILTERS, questionOf } from "./feed-filters.ts";

type Call = Row<"listRequests">;

const COLUMNS: readonly Column<Call>[] = [
  {
    head: "Began",
    cell: ({ ts, request_id: id }) => (
      <Link to={["requests", id]}>
        <When at={ts} />
      </Link>
    ),
  },
  { head: "Status", cell: (call) => <CallStatus status={call.status} code={call.error_code} /> },
  { head: "Model", cell: ({ model }) => <span class="break">{model}</span> },
  {
    head: "Endpoint",
    cell: ({ endpoint_id: endpoint, attempts }) => (
      <span class="break">
        {endpoint || "–"}
        {attempts > 1 && <span class="quiet small"> after {attempts - 1} other</span>}
      </span>
    ),
  },
  {
    head: "Tokens in",
    isNumber: true,
    cell: (call) => format.value.count(call.input_tokens),
  },
  { head: "out", isNumber: true, cell: (call) => format.value.count(call.output_tokens) },
  {
    head: "First token",
    isNumber: true,
    cell: ({ ttft_ms: ms }) => (ms === 0 ? "–" : format.value.duration(ms)),
  },
  { head: "Whole", isNumber: true, cell: ({ duration_ms: ms }) => format.value.duration(ms) },
  { head: "Cost", isNumber: true, cell: ({ cost_micro: micro }) => format.value.money(micro) },
];

const STATUS: readonly Option[] = [
  ["", "Any"],
  ["failed", "Failed: error or rejected"],
  ["ok", "ok"],
  ["error", "error"],
  ["cancelled", "cancelled"],
  ["rejected", "rejected"],
];

const SINCE: readonly Option[] = [
  ["", "Any time"],
  ["1h", "Last hour"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
  ["90d", "Last 90 days"],
  ["custom", "From day to day"],
];

const clearFilters = () => setFilters(Object.fromEntries(FILTERS.map((name) => [name, undefined])));

const NoneFits = () => (
  <>
    <p>No request fits these filters.</p>
    <Button onClick={clearFilters}>Show all requests</Button>
  </>
);

const NoneYet = () => (
  <>
    <p>No request has been made yet.</p>
    <div class="row">
      {mayCall("createPlaygroundKey") && (
        <Link to={["playground"]} class="button">
          Try a model
        </Link>
      )}
      {mayCall("listKeys") && (
        <Link to={["setup"]} class="button">
          Set up a client
        </Link>
      )}
    </div>
  </>
);
/** Days of a range, before one is chosen. */
const USUAL_DAYS = 7;

function chooseSince(within: string): void {
  const to = dayOf(Date.now(), format.value.place.zone);
  const days = { from: daysAfter(to, 1 - USUAL_DAYS), to };
  setFilters({ from: "", to: "", within, ...(within === "custom" && days) });
}

export function Feed() {
  const filters = chosenFilters(query.value);
  const list = usePages("listRequests", { query: questionOf(filters, Date.now(), format.value.place.zone) });
  const isFiltered = Object.values(filters).some((value) => value !== "");
  const chosen = (name: string) => ({
    value: filters[name as keyof typeof filters] ?? "",
    onValue: (value: string) => setFilters({ [name]: value }),
  });
  return (
    <Page
      title="Requests"
      about={`Newest first. Times are in ${format.value.place.zone}.`}
      actions={
        <>
          <Link to={["live"]} class="button">
            As they run
          </Link>
          <Button onClick={list.refresh} isBusy={list.isBusy.value}>
            Refresh
          </Button>
        </>
      }
    >
      <Panel
        title="Filters"
        actions={isFiltered && <Button onClick={clearFilters}>Clear all filters</Button>}
      >
        <div class="feed-filters">
          <Choice label="When" options={SINCE} value={filters.within} onValue={chooseSince} />
          {filters.within === "custom" && (
            <DayRange from={filters.from} to={filters.to} onChange={setFilters} />
          )}
          <Choice label="Status" options={STATUS} {...chosen("status")} />
          <TextField label="Model" placeholder="vendor/model" {...chosen("model")} />
          <TextField label="Provider" {...chosen("provider")} />
          <TextField label="Key" placeholder="key_…" {...chosen("key_id")} />
          <TextField label="App" {...chosen("app_id")} />
          <TextField label="Project" placeholder="prj_…" {...chosen("project_id")} />
          <TextField label="Request id begins with" {...chosen("q")} />
          <TextField label="Cost at least, USD" inputMode="decimal" {...chosen("min_usd")} />
          <Choice
            label="Attempts"
            options={[
              ["", "Any"],
              ["true", "More than one"],
            ]}
            {...chosen("fallbacks")}
          />
        </div>
      </Panel>
      <Panel title="Calls">
        <ListTable
          label="Requests"
          list={list}
          columns={COLUMNS}
          keyOf={(call) => call.request_id}
          empty={isFiltered ? <NoneFits /> : <NoneYet />}
        />
      </Panel>
    </Page>
  );
}
