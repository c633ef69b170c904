/** What was sent to a webhook, newest first, with filters that are in the address. */
import { type Row, usePages } from "../../api/answers.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { filter, setFilters } from "../../app/router.ts";
import { Button } from "../../parts/button.tsx";
import { Chip, Chips } from "../../parts/chip.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { EVENT_GROUPS, EVENT_WORDS, isEventType } from "./event-words.ts";
import {
  answerOf,
  DELIVERY_STATES,
  isDeliveryStatus,
  STATUS_OPTIONS,
  type Webhook,
} from "./webhook-words.ts";

const PAGE = 25;
/** The list is asked for again so often while some of its first page wait. */
const AGAIN_MS = 3000;

const [status, type, event] = [filter("status"), filter("type"), filter("event")];

export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const list = usePages("listDeliveries", {
    params: { id: webhook.id },
    query: {
      limit: PAGE,
      ...(isDeliveryStatus(status.value) && { status: status.value }),
      ...(isEventType(type.value) && { type: type.value }),
      ...(event.value !== "" && { event: event.value }),
    },
  });
  const { rows } = list;
  const isWaiting = rows.value.length <= PAGE && rows.value.some((row) => row.status === "pending");
  useWhileSeen(list.refresh, isWaiting ? AGAIN_MS : undefined);
  const isFiltered = [status, type, event].some(({ value }) => value !== "");
  return (
    <Panel title="Deliveries" actions={<Filters />}>
      {event.value !== "" && (
        <Chips>
          <Chip name="Event" value={event.value} onRemove={() => setFilters({ event: undefined })} />
        </Chips>
      )}
      <ListTable
        label="Deliveries"
        list={list}
        keyOf={({ id }) => id}
        columns={columnsOf(webhook.id)}
        empty={
          isFiltered ? <NoneFits /> : <p>Nothing was sent in the last 30 days. Send a test to try it.</p>
        }
      />
    </Panel>
  );
}

const NoneFits = () => (
  <>
    <p>No delivery of the last 30 days fits these filters.</p>
    <Button onClick={() => setFilters({ status: undefined, type: undefined, event: undefined })}>
      Show all deliveries
    </Button>
  </>
);

const TYPES = [
  ["", "Any"],
  ...EVENT_GROUPS.flatMap(([, types]) => types.map((each) => [each, EVENT_WORDS[each]] as const)),
  ["webhook.test", EVENT_WORDS["webhook.test"]],
] as const;

const Filters = () => (
  <search class="filters" aria-label="Deliveries">
    <Choice
      label="Status"
      value={status.value}
      onValue={(value) => setFilters({ status: value })}
      options={STATUS_OPTIONS}
    />
    <Choice
      label="What happened"
      value={type.value}
      onValue={(value) => setFilters({ type: value })}
      options={TYPES}
    />
  </search>
);

const columnsOf = (webhook: string): readonly Column<Row<"listDeliveries">>[] => [
  {
    head: "Made",
    cell: ({ id, created_at: at }) => (
      <Link to={["webhooks", webhook, "deliveries", id]}>
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
    head: "Status",
    cell: ({ status: now }) => <Badge tone={DELIVERY_STATES[now].tone}>{DELIVERY_STATES[now].text}</Badge>,
  },
  { head: "Last answer", cell: (row) => <span class="break">{answerOf(row)}</span> },
  {
    head: "Took",
    isNumber: true,
    cell: ({ duration_ms: ms }) => (ms === 0 ? "–" : format.value.duration(ms)),
  },
  { head: "Tries", isNumber: true, cell: ({ attempt }) => format.value.count(attempt) },
  {
    head: "Next try",
    cell: ({ next_at: at }) => (at === undefined ? <span class="quiet">none</span> : <When at={at} />),
  },
];
