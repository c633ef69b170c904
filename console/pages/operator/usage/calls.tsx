/** Calls of all organisations over a range: figures, a chart, and who or what they were of. */
import { useAnswer } from "../../../api/answers.ts";
import type { Answer } from "../../../api/call.ts";
import { query, setFilters } from "../../../app/router.ts";
import { Chip, Chips } from "../../../parts/chip.tsx";
import { Link } from "../../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { ShareBar } from "../../../parts/share-bar.tsx";
import { Table } from "../../../parts/table.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { Money, When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { CustomRange } from "../../overview/filters.tsx";
import { OverTime } from "../../overview/over-time.tsx";
import { TotalFigures } from "../../overview/totals.tsx";
import { FILTERS, filterOf, filtersOf, GROUPS, type Group, groupOf, sumsQuery } from "./asked.ts";

type Sums = Answer<"operatorSumUsage">;

/** What ids are called, as groups have told it: the address has the id alone. */
const names = new Map<string, string>();

export function Calls() {
  const asked = sumsQuery(query.value, format.value.place.zone);
  const usage = useAnswer("operatorSumUsage", asked && { query: asked });
  const shown = usage.value.value;
  for (const { key, name } of shown?.groups ?? []) if (name !== "") names.set(key, name);
  const isBusy = usage.isBusy.value;
  return (
    <>
      <CustomRange />
      <SetFilters />
      <FaultNote fault={usage.fault.value} onRetry={usage.refresh} />
      {shown === undefined && usage.fault.value === undefined && asked !== undefined && <Waiting />}
      {shown !== undefined && (
        <>
          <p class="quiet small">
            <When at={shown.range.from} /> to <When at={shown.range.to} />, {format.value.place.zone},
            compared with as long a time before.
          </p>
          {shown.incomplete_since !== undefined && (
            <Note tone="warn">
              Calls since <When at={shown.incomplete_since} /> are not all counted yet.
            </Note>
          )}
          <Panel title="In this range" isBusy={isBusy}>
            <TotalFigures usage={shown} />
          </Panel>
          <OverTime usage={shown} isBusy={isBusy} />
          <Groups usage={shown} isBusy={isBusy} />
        </>
      )}
    </>
  );
}

function SetFilters() {
  const set = filtersOf(query.value);
  if (Object.keys(set).length === 0) return null;
  return (
    <Chips>
      {FILTERS.map(([name, title]) => {
        const value = set[name];
        return value === undefined ? null : (
          <Chip
            key={name}
            name={title}
            value={names.get(value) ?? value}
            onRemove={() => setFilters({ [name]: "" })}
          />
        );
      })}
    </Chips>
  );
}

function Groups({ usage, isBusy }: { readonly usage: Sums; readonly isBusy: boolean }) {
  const by = groupOf(query.value);
  // While another grouping is asked for, the rows are those of the one before.
  const rows = usage.group_by === by ? usage.groups : [];
  return (
    <Panel
      title="Where it goes"
      isBusy={isBusy}
      actions={
        <Tabs label="Grouped by" options={GROUPS} value={by} onValue={(next) => setFilters({ by: next })} />
      }
    >
      {rows.length === 0 ? (
        <p class="quiet">{isBusy ? "Loading" : "No calls in this range."}</p>
      ) : (
        <Rows by={by} rows={rows} totals={usage.totals} />
      )}
      {usage.groups_more && rows.length > 0 && (
        <p class="small quiet">
          The dearest {rows.length} of {format.value.count(usage.groups_total)}.
        </p>
      )}
    </Panel>
  );
}

type Row = Sums["groups"][number];

interface RowsProps {
  readonly by: Group;
  readonly rows: readonly Row[];
  readonly totals: Sums["totals"];
}

function Rows({ by, rows, totals }: RowsProps) {
  const shown = format.value;
  // Where nothing was charged, shares are those of calls.
  const isOfSpend = totals.cost_micro > 0;
  const shareOf = (row: Row) =>
    isOfSpend ? row.cost_micro / totals.cost_micro : row.requests / Math.max(1, totals.requests);
  const title = GROUPS.find(([each]) => each === by)?.[1] ?? "";
  const page = PAGES[by];
  return (
    <Table
      label={`${title}, the dearest first`}
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { head: title, cell: (row) => <GroupName by={by} row={row} /> },
        {
          head: isOfSpend ? "Share of spend" : "Share of calls",
          cell: (row) => <ShareBar share={shareOf(row)} />,
        },
        { head: "Spend", isNumber: true, cell: (row) => <Money micro={row.cost_micro} /> },
        { head: "Calls", isNumber: true, cell: (row) => shown.count(row.requests) },
        {
          head: "Errors",
          isNumber: true,
          cell: (row) => (
            <>
              {shown.count(row.errors)}
              {row.errors > 0 && <span class="quiet small"> {shown.share(row.errors / row.requests)}</span>}
            </>
          ),
        },
        {
          head: "Tokens",
          isNumber: true,
          cell: (row) => shown.shortCount(row.input_tokens + row.output_tokens),
        },
        ...(page === undefined
          ? []
          : [{ head: "Page", cell: (row: Row) => <PageOf page={page} row={row} /> }]),
        {
          head: "First token",
          isNumber: true,
          cell: ({ latency }) => (latency.ttft_p50_ms === null ? "–" : shown.duration(latency.ttft_p50_ms)),
        },
      ]}
    />
  );
}

const PAGES: Readonly<Partial<Record<Group, string>>> = { org: "organisations", provider: "providers" };

const PageOf = ({ page, row: { key, name } }: { readonly page: string; readonly row: Row }) =>
  key === "" ? (
    <span class="quiet">–</span>
  ) : (
    <Link to={[page, key]}>
      Open<span class="only-read"> {name === "" ? key : name}</span>
    </Link>
  );

function GroupName({ by, row: { key, name } }: { readonly by: Group; readonly row: Row }) {
  const text = name !== "" ? name : key === "" ? "(none)" : key;
  if (key === "") return <span class="quiet">{text}</span>;
  return (
    <div class="overview-name">
      <button
        type="button"
        class="link break"
        title={`Show ${text} alone`}
        onClick={() => setFilters({ [filterOf(by)]: key })}
      >
        {text}
      </button>
    </div>
  );
}
