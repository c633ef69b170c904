/** One event: what happened, with all that a webhook is told, and where it was sent to. */
import { useAnswer } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Place } from "../../parts/place.tsx";
import { JsonBlock } from "../../parts/text-block.tsx";
import { When } from "../../parts/when.tsx";
import { subjectOf } from "./event-subject.ts";
import { EVENT_WORDS } from "./event-words.ts";
import { nameOf } from "./webhook-words.ts";

export function EventPage({ id }: { readonly id: string }) {
  const shown = useAnswer("getEvent", { params: { id } });
  const event = shown.value.value;
  const back = <Link to={["webhooks", "events"]}>All events</Link>;
  if (event === undefined) {
    return (
      <Page title="Event" about={back}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  const subject = subjectOf(event);
  return (
    <Page title={EVENT_WORDS[event.type]} about={back}>
      <Panel title="Facts">
        <Facts
          rows={[
            ["When", <When at={event.created_at} />],
            ["Type", <code>{event.type}</code>],
            ["About", subject && <Place {...subject} />],
            ["Id", <Copy text={event.id} what="event id" />],
          ]}
        />
      </Panel>
      {mayCall("listWebhooks") && <SentTo event={event.id} />}
      <Panel title="What it says">
        <JsonBlock title="Data, as it was then" text={JSON.stringify(event.data ?? null)} />
      </Panel>
    </Page>
  );
}

function SentTo({ event }: { readonly event: string }) {
  const shown = useAnswer("listWebhooks", {});
  const webhooks = shown.value.value?.data;
  return (
    <Panel title="Deliveries">
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      {webhooks?.length === 0 && <p class="quiet">There is no webhook that could have been told.</p>}
      {webhooks !== undefined && webhooks.length > 0 && (
        <>
          <p class="quiet small">Each webhook's deliveries of this event, where there are any:</p>
          <ul class="links-down">
            {webhooks.map((webhook) => (
              <li key={webhook.id}>
                <Link to={["webhooks", webhook.id]} filters={{ event }} class="break">
                  {nameOf(webhook)}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}
