/** One delivery: what was sent and what came back, in full, each try, and sending it again. */
import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { useWhileSeen } from "../../api/timing.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { JsonBlock } from "../../parts/text-block.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { EVENT_WORDS } from "./event-words.ts";
import { answerOf, DELIVERY_STATES, type Delivery, isHidden, whyOf } from "./webhook-words.ts";

const AGAIN_MS = 1500;

interface DeliveryProps {
  readonly webhook: string;
  readonly id: string;
}

export function DeliveryPage({ webhook, id }: DeliveryProps) {
  const shown = useAnswer("getDelivery", { params: { id: webhook, delivery: id } });
  const delivery = shown.value.value;
  useWhileSeen(shown.refresh, delivery?.status === "pending" ? AGAIN_MS : undefined);
  const back = <Link to={["webhooks", webhook]}>The webhook and its deliveries</Link>;
  if (delivery === undefined) {
    return (
      <Page title="Delivery" about={back}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  return (
    <Page
      title={EVENT_WORDS[delivery.type]}
      about={back}
      actions={
        mayCall("redeliver") && <Redeliver webhook={webhook} delivery={delivery} onChange={shown.refresh} />
      }
    >
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      <Outcome delivery={delivery} />
      <div class="columns delivery-sides">
        <Sent delivery={delivery} />
        <Answered delivery={delivery} />
      </div>
      {delivery.attempts.length > 0 && (
        <Panel title="Tries">
          <Table
            label="Tries"
            rows={delivery.attempts}
            columns={TRY_COLUMNS}
            keyOf={({ attempt }) => String(attempt)}
          />
        </Panel>
      )}
    </Page>
  );
}

interface OfDelivery {
  readonly delivery: Delivery;
}

interface RedeliverProps extends OfDelivery {
  readonly webhook: string;
  readonly onChange: () => void;
}

/** One that waits is tried at once; of one that has ended there is a new delivery, which is shown. */
function Redeliver({ webhook, delivery, onChange }: RedeliverProps) {
  const act = useAct();
  const isWaiting = delivery.status === "pending";
  const redeliver = () =>
    act.run(async () => {
      const { id } = await call("redeliver", { params: { id: webhook, delivery: delivery.id } });
      if (id === delivery.id) onChange();
      else go(pageAddress(orgSlug.value, ["webhooks", webhook, "deliveries", id]));
    });
  return (
    <>
      <Button kind="main" isBusy={act.isBusy} disabled={!delivery.event_kept} onClick={redeliver}>
        {isWaiting ? "Try now" : "Send again"}
      </Button>
      <FaultNote fault={act.fault} />
    </>
  );
}

function Outcome({ delivery }: OfDelivery) {
  const { text, tone } = DELIVERY_STATES[delivery.status];
  const { attempted_at: tried, next_at: next } = delivery;
  return (
    <Panel title="Outcome">
      <Facts
        rows={[
          ["Status", <Badge tone={tone}>{text}</Badge>],
          ["Why", whyOf(delivery)],
          ["Sent to", delivery.url],
          [
            "Tries",
            tried === undefined ? (
              "none yet"
            ) : (
              <>
                {format.value.count(delivery.attempt)}, the last <When at={tried} />
              </>
            ),
          ],
          ["Next try", next === undefined ? "none" : <When at={next} />],
          [
            "Event",
            delivery.event_kept && mayCall("getEvent") ? (
              <Link to={["webhooks", "events", delivery.event_id]}>
                <code>{delivery.event_id}</code>
              </Link>
            ) : (
              <code>{delivery.event_id}</code>
            ),
          ],
          ["Delivery", <Copy text={delivery.id} what="delivery id" />],
        ]}
      />
    </Panel>
  );
}

const Sent = ({ delivery }: OfDelivery) => (
  <Panel title="What was sent">
    {delivery.attempt === 0 && <Note>It was not sent yet. It will be sent so:</Note>}
    <Head title="Header" fields={delivery.headers} />
    {delivery.body === undefined ? (
      <Note>The body is not known any more: the event is older than 30 days.</Note>
    ) : (
      <JsonBlock title="Body" text={delivery.body} />
    )}
  </Panel>
);

function Answered({ delivery }: OfDelivery) {
  const { http_status: status, duration_ms: took, response, response_headers: head, error } = delivery;
  if (delivery.attempt === 0) {
    return (
      <Panel title="What came back">
        <p class="quiet">Nothing yet.</p>
      </Panel>
    );
  }
  return (
    <Panel title="What came back">
      <Facts
        rows={[
          ["Status", status === 0 ? "no answer" : <Code status={status} />],
          ["Time taken", took === 0 ? undefined : format.value.duration(took)],
          ["Why it failed", status === 0 && error !== "" ? error : undefined],
        ]}
      />
      {isHidden(delivery) && (
        <Note>
          Only the status is shown. What a receiver says is shown where it answers from a public address.
        </Note>
      )}
      {Object.keys(head).length > 0 && <Head title="Header" fields={head} />}
      {response !== "" && <JsonBlock title="Body, the first 2 KB" text={response} />}
      {response === "" && Object.keys(head).length > 0 && <p class="quiet">Its body was empty.</p>}
    </Panel>
  );
}

const Code = ({ status }: { readonly status: number }) => (
  <Badge tone={status >= 200 && status < 300 ? "good" : "bad"}>{status}</Badge>
);

interface HeadProps {
  readonly title: string;
  readonly fields: Readonly<Record<string, string>>;
}

const Head = ({ title, fields }: HeadProps) => (
  <section class="stack" aria-label={title}>
    <h3>{title}</h3>
    <Facts
      rows={Object.entries(fields).map(
        ([name, value]) => [name, <code class="break">{value}</code>] as const,
      )}
    />
  </section>
);

const TRY_COLUMNS: readonly Column<Delivery["attempts"][number]>[] = [
  { head: "Try", cell: ({ attempt }) => format.value.count(attempt) },
  { head: "Made", cell: ({ attempted_at: at }) => <When at={at} /> },
  {
    head: "Answer",
    cell: (row) =>
      row.http_status === 0 ? <span class="break">{answerOf(row)}</span> : <Code status={row.http_status} />,
  },
  {
    head: "Took",
    isNumber: true,
    cell: ({ duration_ms: ms }) => (ms === 0 ? "–" : format.value.duration(ms)),
  },
];
