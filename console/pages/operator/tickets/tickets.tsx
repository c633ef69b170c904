/** What customers ask for: open tickets first, each decided once. */
import { useState } from "preact/hooks";
import { type Row, usePages } from "../../../api/answers.ts";
import { filter, setFilters } from "../../../app/router.ts";
import { Button } from "../../../parts/button.tsx";
import { Chip, Chips } from "../../../parts/chip.tsx";
import { Choice } from "../../../parts/field.tsx";
import { Badge } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { OrgLink } from "../shared/org-link.tsx";
import { Decide } from "./decide.tsx";
import { detailsOf, isKind, isStatus, KINDS, STATUSES, type Ticket } from "./ticket-words.ts";

const PAGE = 25;
const [status, kind, org] = [filter("status"), filter("kind"), filter("org_id")];

export function Tickets() {
  const chosen = isStatus(status.value) ? status.value : "open";
  const list = usePages("operatorListTickets", {
    query: {
      limit: PAGE,
      status: chosen,
      ...(isKind(kind.value) && { kind: kind.value }),
      ...(org.value !== "" && { org_id: org.value }),
    },
  });
  const [asked, setAsked] = useState<Ticket | undefined>(undefined);
  const [told, setTold] = useState("");
  return (
    <Page
      title="Tickets"
      about={
        chosen === "open" && org.value === "" ? "Those that have waited longest come first." : "Newest first."
      }
    >
      <Panel title="What customers ask for">
        <Filters status={chosen} />
        <p role="status">{told}</p>
        <ListTable
          label="Tickets"
          list={list}
          keyOf={({ id }) => id}
          columns={columnsOf(setAsked)}
          empty={<Nothing isOpen={chosen === "open"} />}
        />
      </Panel>
      {asked !== undefined && (
        <Decide
          ticket={asked}
          onClose={() => setAsked(undefined)}
          onDone={(text) => {
            setTold(text);
            list.refresh();
          }}
        />
      )}
    </Page>
  );
}

function Filters({ status: chosen }: { readonly status: Ticket["status"] }) {
  return (
    <>
      <search class="filters" aria-label="Tickets">
        <Choice
          label="Status"
          value={chosen}
          onValue={(value) => setFilters({ status: value })}
          options={[
            ["open", "Open"],
            ["approved", "Approved"],
            ["rejected", "Rejected"],
            ["closed", "Closed"],
          ]}
        />
        <Choice
          label="What"
          value={kind.value}
          onValue={(value) => setFilters({ kind: value })}
          options={[["", "Everything"], ...Object.entries(KINDS)]}
        />
      </search>
      {org.value !== "" && (
        <Chips>
          <Chip name="Organisation" value={org.value} onRemove={() => setFilters({ org_id: undefined })} />
        </Chips>
      )}
    </>
  );
}

const Nothing = ({ isOpen }: { readonly isOpen: boolean }) => (
  <p>
    {isOpen
      ? "No ticket waits. Customers write them under Support, and where they ask for higher limits."
      : "No ticket is like this."}
  </p>
);

const columnsOf = (onDecide: (ticket: Ticket) => void): readonly Column<Row<"operatorListTickets">>[] => [
  {
    head: "Asked",
    cell: ({ created_at: at, created_by: by }) => (
      <>
        <When at={at} />
        <div class="small quiet break">{by}</div>
      </>
    ),
  },
  { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
  { head: "Kind", cell: (ticket) => <span class="nowrap">{KINDS[ticket.kind]}</span> },
  {
    head: "What",
    cell: (ticket) => (
      <>
        <span class="break">{ticket.subject}</span>
        <Details of={ticket} />
      </>
    ),
  },
  {
    head: "Decision",
    cell: (ticket) =>
      ticket.status === "open" ? (
        <Button onClick={() => onDecide(ticket)} aria-label={`Decide ${ticket.subject}`}>
          Decide
        </Button>
      ) : (
        <>
          <Badge tone={STATUSES[ticket.status][0]}>{STATUSES[ticket.status][1]}</Badge>
          {ticket.decided_at !== undefined && (
            <div class="small quiet">
              <When at={ticket.decided_at} />
            </div>
          )}
          <span class="small break">{ticket.answer}</span>
        </>
      ),
  },
];

/** In the table only the first words: the dialog has all. */
const SHORT = 120;

function Details({ of: ticket }: { readonly of: Ticket }) {
  const rows = detailsOf(ticket, format.value);
  return (
    <>
      {rows.map(([name, value]) => (
        <div key={name} class="small quiet break">
          {name}: {value.length > SHORT ? `${value.slice(0, SHORT)} …` : value}
        </div>
      ))}
    </>
  );
}
