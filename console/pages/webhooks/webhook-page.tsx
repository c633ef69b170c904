/** One webhook: how it does, what it hears of, what was sent to it, and what can be done with it. */
import { useState } from "preact/hooks";
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
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { AskedAct, type AskedName } from "./asked-acts.tsx";
import { Deliveries } from "./deliveries.tsx";
import { EVENT_WORDS } from "./event-words.ts";
import { State } from "./list.tsx";
import { Verify } from "./verify.tsx";
import { WebhookFields } from "./webhook-form.tsx";
import { faultsOf, patchOf, valuesOf } from "./webhook-values.ts";
import { nameOf, type Webhook } from "./webhook-words.ts";

const AGAIN_MS = 3000;

export function WebhookPage({ id }: { readonly id: string }) {
  const shown = useAnswer("getWebhook", { params: { id } });
  const [isOpen, setOpen] = useState(false);
  const webhook = shown.value.value;
  useWhileSeen(shown.refresh, (webhook?.waiting ?? 0) > 0 && !isOpen ? AGAIN_MS : undefined);
  if (webhook === undefined) {
    return (
      <Page title="Webhook" about={<Link to={["webhooks"]}>All webhooks</Link>}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  return (
    <Page
      title={nameOf(webhook)}
      about={<Link to={["webhooks"]}>All webhooks</Link>}
      actions={<Acts webhook={webhook} onChange={shown.refresh} />}
    >
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      <Panel
        title="Settings"
        actions={mayCall("updateWebhook") && !isOpen && <Button onClick={() => setOpen(true)}>Change</Button>}
      >
        {isOpen ? (
          <Form webhook={webhook} onClose={() => setOpen(false)} onChange={shown.refresh} />
        ) : (
          <Settings webhook={webhook} />
        )}
      </Panel>
      <Deliveries webhook={webhook} />
      <Verify />
    </Page>
  );
}

interface OfWebhook {
  readonly webhook: Webhook;
}

function Acts({ webhook, onChange }: OfWebhook & { readonly onChange: () => void }) {
  const [asked, setAsked] = useState<AskedName | undefined>(undefined);
  const test = useAct();
  const isActive = webhook.status === "active";
  const send = () =>
    test.run(async () => {
      const { id } = await call("testWebhook", { params: { id: webhook.id } });
      go(pageAddress(orgSlug.value, ["webhooks", webhook.id, "deliveries", id]));
    });
  const resume = () =>
    test.run(async () => {
      await call("updateWebhook", { params: { id: webhook.id }, body: { status: "active" } });
      onChange();
    });
  return (
    <>
      {isActive && mayCall("testWebhook") && (
        <Button kind="main" isBusy={test.isBusy} onClick={send}>
          Send a test
        </Button>
      )}
      {!isActive && mayCall("updateWebhook") && (
        <Button kind="main" isBusy={test.isBusy} onClick={resume}>
          Resume
        </Button>
      )}
      {isActive && mayCall("updateWebhook") && <Button onClick={() => setAsked("pause")}>Pause</Button>}
      {mayCall("rotateWebhook") && <Button onClick={() => setAsked("rotate")}>Rotate secret</Button>}
      {mayCall("deleteWebhook") && (
        <Button kind="danger" onClick={() => setAsked("delete")}>
          Delete webhook
        </Button>
      )}
      <FaultNote fault={test.fault} />
      {asked !== undefined && (
        <AskedAct name={asked} webhook={webhook} onClose={() => setAsked(undefined)} onChange={onChange} />
      )}
    </>
  );
}

function Settings({ webhook }: OfWebhook) {
  const { events, waiting, last_delivered_at: taken, previous_secret_until: until } = webhook;
  return (
    <Facts
      rows={[
        ["Address", <Copy text={webhook.url} what="address" />],
        ["State", <State of={webhook} />],
        ["Last taken", taken === undefined ? "never" : <When at={taken} />],
        ["Waiting", waiting === 0 ? "nothing" : `${format.value.count(waiting)} deliveries`],
        [
          "Hears of",
          events.length === 0 ? "everything" : events.map((type) => EVENT_WORDS[type] ?? type).join(" · "),
        ],
        [
          "Secret",
          until === undefined ? undefined : (
            <>
              The secret before signs too, until <When at={until} />
            </>
          ),
        ],
        ["Made", <When at={webhook.created_at} />],
        ["Id", <Copy text={webhook.id} what="webhook id" />],
      ]}
    />
  );
}

interface FormProps extends OfWebhook {
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function Form({ webhook, onClose, onChange }: FormProps) {
  const [values, setValues] = useState(() => valuesOf(webhook));
  const act = useAct();
  const body = patchOf(webhook, values);
  const save = () => {
    if (body === undefined || Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      await call("updateWebhook", { params: { id: webhook.id }, body });
      onChange();
      onClose();
    });
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <WebhookFields values={values} onValues={setValues} isTried fault={act.fault} />
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={body === undefined}>
          Save changes
        </Button>
        <Button onClick={onClose}>Discard</Button>
      </div>
    </form>
  );
}
