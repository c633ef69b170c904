/** The tickets of the org, newest first; what they are about is a filter in the address. */
import { type Row, usePages } from "../../api/answers.ts";
import { filter, go, pageAddress, setFilters } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { isKind, KIND_OPTIONS, KIND_WORDS, STATUS_TONES } from "./ticket-words.ts";

const kind = filter("kind");

export function TicketList() {
  const list = usePages("listTickets", {
    query: { limit: 50, ...(isKind(kind.value) && { kind: kind.value }) },
  });
  return (
    <Page
      title="Tickets"
      about="What your organisation asks of whoever runs this gateway, and what was decided."
      actions={mayCall("createTicket") && <NewButton />}
    >
      <Panel
        title="Tickets"
        actions={
          <search class="filters" aria-label="Tickets">
            <Choice
              label="About"
              value={kind.value}
              onValue={(value) => setFilters({ kind: value })}
              options={KIND_OPTIONS}
            />
          </search>
        }
      >
        <ListTable
          label="Tickets"
          list={list}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          empty={
            kind.value === "" ? (
              <p>Nothing was asked yet. Ask for higher limits, for a refund, or anything else.</p>
            ) : (
              <p>No ticket is about this.</p>
            )
          }
        />
      </Panel>
    </Page>
  );
}

const NewButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["tickets", "new"]))}>
    New ticket
  </Button>
);

const COLUMNS: readonly Column<Row<"listTickets">>[] = [
  {
    head: "Ticket",
    cell: ({ id, subject }) => (
      <Link to={["tickets", id]} class="break">
        {subject}
      </Link>
    ),
  },
  { head: "About", cell: (ticket) => KIND_WORDS[ticket.kind] },
  { head: "Status", cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
  {
    head: "Asked by",
    cell: ({ created_by: by }) =>
      by === "" ? <span class="quiet">not known</span> : <span class="break">{by}</span>,
  },
  { head: "Asked", cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: "Decided",
    cell: ({ decided_at: at }) => (at === undefined ? <span class="quiet">not yet</span> : <When at={at} />),
  },
];
