/** What changed in a model, and prices that come into force later. */
import { Badge } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import type { Stats } from "./days.ts";
import { price } from "./figures.tsx";

interface HistoryProps {
  readonly stats: Stats;
  readonly nameOf: (endpoint: string) => string;
}

export const History = (props: HistoryProps) => (
  <>
    {props.stats.scheduled_prices.length > 0 && <Scheduled {...props} />}
    <Prices {...props} />
    <Changes stats={props.stats} />
    <Apps stats={props.stats} />
  </>
);

const Scheduled = ({ stats, nameOf }: HistoryProps) => (
  <Panel title="Announced prices">
    <Table
      label="Announced prices"
      rows={stats.scheduled_prices}
      keyOf={(row) => `${row.endpoint_id} ${row.effective_at}`}
      columns={[
        { head: "From", cell: (row) => <When at={row.effective_at} /> },
        { head: "Endpoint", cell: (row) => nameOf(row.endpoint_id) },
        { head: "Input", isNumber: true, cell: (row) => price(row.price.input) },
        { head: "Output", isNumber: true, cell: (row) => price(row.price.output) },
        { head: "Cache read", isNumber: true, cell: (row) => price(row.price.cache_read) },
      ]}
    />
  </Panel>
);

/** The newest of each endpoint is in force. */
function Prices({ stats: { prices }, nameOf }: HistoryProps) {
  if (prices.length === 0) return null;
  const newest = new Set(
    prices.filter((row, place) => prices.findIndex((each) => each.endpoint_id === row.endpoint_id) === place),
  );
  return (
    <Panel title="Prices so far">
      <Table
        label="Prices so far, newest first"
        rows={prices}
        keyOf={(row) => `${row.endpoint_id} ${row.effective_at}`}
        columns={[
          {
            head: "Since",
            cell: (row) => (
              <>
                <When at={row.effective_at} /> {newest.has(row) && <Badge tone="good">in force</Badge>}
              </>
            ),
          },
          { head: "Endpoint", cell: (row) => nameOf(row.endpoint_id) },
          { head: "Input", isNumber: true, cell: (row) => price(row.price.input) },
          { head: "Output", isNumber: true, cell: (row) => price(row.price.output) },
          { head: "Cache read", isNumber: true, cell: (row) => price(row.price.cache_read) },
          {
            head: "Added when charged",
            isNumber: true,
            cell: (row) => format.value.share(row.markup_bps / 10_000),
          },
        ]}
      />
    </Panel>
  );
}

const Changes = ({ stats: { changelog } }: Pick<HistoryProps, "stats">) => (
  <Panel title="What changed">
    {changelog.length === 0 ? (
      <p class="quiet">Nothing has changed since this gateway knows the model.</p>
    ) : (
      <ul class="models-history">
        {changelog.map(({ id, kind, summary, effective_at: at, created_at: known }) => (
          <li key={id}>
            <When at={at} as="day" />{" "}
            <Badge tone={kind.startsWith("price") ? "accent" : "plain"}>{kind.replaceAll("_", " ")}</Badge>{" "}
            <span class="break">{summary}</span>
            {known < at && (
              <span class="quiet small">
                {" "}
                Announced <When at={known} as="day" />.
              </span>
            )}
          </li>
        ))}
      </ul>
    )}
  </Panel>
);

function Apps({ stats: { apps } }: Pick<HistoryProps, "stats">) {
  if (apps.length === 0) return null;
  return (
    <Panel title="Public apps that use it">
      <Table
        label="Public apps, 7 days"
        rows={apps}
        keyOf={({ app_id: id }) => id}
        columns={[
          { head: "App", cell: ({ app_id: id }) => id },
          { head: "Calls, 7 days", isNumber: true, cell: (row) => format.value.count(row.requests_7d) },
          { head: "Tokens, 7 days", isNumber: true, cell: (row) => format.value.shortCount(row.tokens_7d) },
        ]}
      />
    </Panel>
  );
}
