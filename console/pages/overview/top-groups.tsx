/** The dearest models, keys, apps, providers or projects of the range, and where each leads. */
import { query, setFilters } from "../../app/router.ts";
import { Link } from "../../parts/link.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ShareBar } from "../../parts/share-bar.tsx";
import { Table } from "../../parts/table.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Money } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import type { Usage } from "./metrics.ts";
import { FILTER_OF, GROUPS, type Group, groupOf } from "./range.ts";

type Row = Usage["groups"][number];

interface TopProps {
  readonly usage: Usage;
  readonly isBusy: boolean;
  /** Filters of a link to the calls of the range. */
  readonly calls: Readonly<Record<string, string | undefined>>;
}

export function TopGroups({ usage, isBusy, calls }: TopProps) {
  const by = groupOf(query.value);
  const tabs = (
    <Tabs label="Grouped by" options={GROUPS} value={by} onValue={(next) => setFilters({ by: next })} />
  );
  // While another grouping is asked for, the rows are those of the one before.
  const rows = usage.group_by === by ? usage.groups : [];
  return (
    <Panel title="Where it goes" isBusy={isBusy} actions={tabs}>
      {rows.length === 0 ? (
        <p class="quiet">{isBusy ? "Loading" : emptyText(by)}</p>
      ) : (
        <Rows by={by} rows={rows} usage={usage} calls={calls} />
      )}
      {usage.groups_more && rows.length > 0 && (
        <p class="small quiet">
          The dearest {rows.length} of {format.value.count(usage.groups_total)}.
        </p>
      )}
    </Panel>
  );
}

const emptyText = (by: Group): string =>
  by === "app" ? "No call named an app. Clients do so by the header X-Title." : "No calls in this range.";

interface RowsProps extends Pick<TopProps, "usage" | "calls"> {
  readonly by: Group;
  readonly rows: readonly Row[];
}

function Rows({ by, rows, usage, calls }: RowsProps) {
  const shown = format.value;
  const { totals } = usage;
  // Where nothing was charged, shares are those of calls.
  const isOfSpend = totals.cost_micro > 0;
  const shareOf = (row: Row) =>
    isOfSpend ? row.cost_micro / totals.cost_micro : row.requests / Math.max(1, totals.requests);
  const filter = FILTER_OF[by];
  // The overview itself has no filter of apps.
  const callFilter = by === "app" ? "app_id" : filter;
  const title = GROUPS.find(([each]) => each === by)?.[1] ?? "";
  return (
    <Table
      label={`${title}, the dearest first`}
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { head: title, cell: (row) => <GroupName row={row} filter={filter} /> },
        {
          head: isOfSpend ? "Share of spend" : "Share of calls",
          cell: (row) => <ShareBar share={shareOf(row)} />,
        },
        { head: "Spend", isNumber: true, cell: (row) => <Money micro={row.cost_micro} /> },
        {
          head: "Calls",
          isNumber: true,
          cell: (row) =>
            callFilter === undefined ? (
              shown.count(row.requests)
            ) : (
              <Link to={["requests"]} filters={{ ...calls, [callFilter]: row.key }}>
                {shown.count(row.requests)}
              </Link>
            ),
        },
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
          head: "First token",
          isNumber: true,
          cell: ({ latency }) => (latency.ttft_p50_ms === null ? "–" : shown.duration(latency.ttft_p50_ms)),
        },
      ]}
    />
  );
}

function GroupName({ row, filter }: { readonly row: Row; readonly filter: string | undefined }) {
  const { key, name, hint } = row;
  const text = name !== "" ? name : key === "" ? "(none)" : key;
  return (
    <div class="overview-name">
      {filter === undefined || key === "" ? (
        <span class="break">{text}</span>
      ) : (
        <button
          type="button"
          class="link break"
          title={`Show ${text} alone`}
          onClick={() => setFilters({ [filter]: key })}
        >
          {text}
        </button>
      )}
      {hint !== undefined && <span class="small quiet"> …{hint}</span>}
      {name !== "" && name !== key && hint === undefined && <div class="small quiet break">{key}</div>}
    </div>
  );
}
