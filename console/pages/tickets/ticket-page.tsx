/** One ticket: what is asked for, its course, and what happens next. */
import { useAnswer } from "../../api/answers.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { mayCall } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Place } from "../../parts/place.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { askedOf, asLine, KIND_WORDS, nextOf, STATUS_TONES, type Ticket } from "./ticket-words.ts";

/** An open one is asked for again so often: somebody may decide it meanwhile. */
const AGAIN_MS = 10_000;

export function TicketPage({ id }: { readonly id: string }) {
  const shown = useAnswer("getTicket", { params: { id } });
  const ticket = shown.value.value;
  useWhileSeen(shown.refresh, ticket?.status === "open" ? AGAIN_MS : undefined);
  const back = <Link to={["tickets"]}>All tickets</Link>;
  if (ticket === undefined) {
    return (
      <Page title="Ticket" about={back}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  return (
    <Page title={ticket.subject} about={back}>
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      <div class="columns">
        <Asked ticket={ticket} />
        <Course ticket={ticket} />
      </div>
    </Page>
  );
}

interface OfTicket {
  readonly ticket: Ticket;
}

function Asked({ ticket }: OfTicket) {
  const { words, keyId, rpm, invoiceId, gstin, refundableMicro } = askedOf(ticket);
  return (
    <Panel
      title="What is asked for"
      actions={
        mayCall("listAudit") && (
          <Link to={["audit"]} filters={{ target: ticket.id }}>
            In the audit
          </Link>
        )
      }
    >
      <Facts
        rows={[
          ["About", KIND_WORDS[ticket.kind]],
          ["Key", keyId && <Place kind="key" id={keyId} />],
          ["Requests a minute", rpm === undefined ? undefined : format.value.count(rpm)],
          ["Invoice", invoiceId && <Place kind="invoice" id={invoiceId} />],
          ["GSTIN", gstin && <code>{gstin}</code>],
          ["Can be refunded", refundableMicro === undefined ? undefined : <Money micro={refundableMicro} />],
          ["Asked by", ticket.created_by || "not known"],
          ["Id", <Copy text={ticket.id} what="ticket id" />],
        ]}
      />
      {words !== undefined && <p class="ticket-words">{words}</p>}
    </Panel>
  );
}

function Course({ ticket }: OfTicket) {
  const { status, created_at: asked, decided_at: decided, answer } = ticket;
  return (
    <Panel title="Course" actions={<Badge tone={STATUS_TONES[status]}>{status}</Badge>}>
      <ol class="course">
        <li>
          <strong>Asked</strong> <When at={asked} />
        </li>
        <li>
          <strong>{asLine(status)}</strong> {decided !== undefined && <When at={decided} />}
          {answer !== undefined && <p class="ticket-words">{answer}</p>}
        </li>
      </ol>
      <Note tone={status === "open" ? "accent" : "plain"}>
        <strong>What happens next.</strong> {nextOf(ticket)}
      </Note>
    </Panel>
  );
}
