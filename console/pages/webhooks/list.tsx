/** All webhooks of the org: where each goes, how it does, and when its receiver last took something. */
import { useAnswer } from "../../api/answers.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { Parts } from "./parts.tsx";
import { nameOf, stateOf, type Webhook, whyPaused } from "./webhook-words.ts";

export function WebhookList() {
  const shown = useAnswer("listWebhooks", {});
  const webhooks = shown.value.value?.data;
  return (
    <Page
      title="Webhooks and events"
      about="A webhook is an address of yours that is told what happens here, signed so that you know who says it."
      actions={mayCall("createWebhook") && <NewButton />}
    >
      <Parts current="webhooks" />
      <Panel title="Webhooks" isBusy={webhooks !== undefined && shown.isBusy.value}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {webhooks === undefined && shown.fault.value === undefined && <Waiting />}
        {webhooks?.length === 0 && (
          <div class="empty">
            <p>
              There is no webhook yet. Make one to hear of budgets, payments, keys and people as it happens.
            </p>
            {mayCall("createWebhook") && <NewButton />}
          </div>
        )}
        {webhooks !== undefined && webhooks.length > 0 && (
          <Table label="Webhooks" rows={webhooks} columns={COLUMNS} keyOf={({ id }) => id} />
        )}
      </Panel>
    </Page>
  );
}

const NewButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["webhooks", "new"]))}>
    New webhook
  </Button>
);

/** How it does, and why where it is not well. */
export function State({ of: webhook }: { readonly of: Webhook }) {
  const { text, tone } = stateOf(webhook);
  const why = whyPaused(webhook);
  const { failing_since: failing } = webhook;
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      {why !== undefined && <span class="small quiet sentence">{why}</span>}
      {why === undefined && failing !== undefined && (
        <span class="small quiet sentence">
          It has taken nothing since <When at={failing} />.
        </span>
      )}
    </>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    head: "Webhook",
    cell: (webhook) => (
      <>
        <Link to={["webhooks", webhook.id]} class="break">
          {nameOf(webhook)}
        </Link>
        {webhook.description !== "" && <span class="small quiet break">{webhook.url}</span>}
      </>
    ),
  },
  { head: "State", cell: (webhook) => <State of={webhook} /> },
  {
    head: "Hears of",
    cell: ({ events }) =>
      events.length === 0
        ? "everything"
        : `${events.length} ${events.length === 1 ? "type" : "types"} of events`,
  },
  {
    head: "Last taken",
    cell: ({ last_delivered_at: at }) =>
      at === undefined ? <span class="quiet">never</span> : <When at={at} />,
  },
  { head: "Waiting", isNumber: true, cell: ({ waiting }) => format.value.count(waiting) },
];
