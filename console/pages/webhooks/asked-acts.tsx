/** What asks before it is done to a webhook: it is paused, its secret replaced, or all of it deleted. */
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { showSecret } from "../../parts/secret.tsx";
import { format } from "../../text/org-format.ts";
import { nameOf, type Webhook } from "./webhook-words.ts";

export type AskedName = "pause" | "rotate" | "delete";

interface AskedProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

export function AskedAct({ name, ...asked }: AskedProps & { readonly name: AskedName }) {
  if (name === "pause") return <Pause {...asked} />;
  return name === "rotate" ? <Rotate {...asked} /> : <Delete {...asked} />;
}

const Pause = ({ webhook, onClose, onChange }: AskedProps) => (
  <Confirm
    title={`Pause "${nameOf(webhook)}"?`}
    act="Pause webhook"
    onClose={onClose}
    onAct={async () => {
      await call("updateWebhook", { params: { id: webhook.id }, body: { status: "disabled" } });
      onChange();
    }}
  >
    It is sent nothing until you resume it. What waits for it now fails; each of these can be sent again
    later.
  </Confirm>
);

function Rotate({ webhook, onClose, onChange }: AskedProps) {
  const act = useAct();
  const name = nameOf(webhook);
  const rotate = () =>
    act.run(async () => {
      const { secret, previous_secret_until: until } = await call("rotateWebhook", {
        params: { id: webhook.id },
      });
      showSecret({
        name,
        secret,
        ...(until !== undefined && {
          about: `The secret before signs too until ${format.value.time(until)}: give your receiver the new one by then.`,
        }),
      });
      onClose();
      onChange();
    });
  return (
    <Dialog title={`Rotate the secret of "${name}"?`} onClose={onClose}>
      <p>
        A new secret signs from now on. For 24 hours the one before signs too, so a receiver that has either
        takes what is sent. Rotated again within that time, the oldest signs no more.
      </p>
      <FaultNote fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="main" isBusy={act.isBusy} onClick={rotate}>
          Rotate secret
        </Button>
      </div>
    </Dialog>
  );
}

const Delete = ({ webhook, onClose }: AskedProps) => (
  <Confirm
    title={`Delete "${nameOf(webhook)}"?`}
    act="Delete webhook"
    onClose={onClose}
    onAct={async () => {
      await call("deleteWebhook", { params: { id: webhook.id } });
      go(pageAddress(orgSlug.value, ["webhooks"]), "replace");
    }}
  >
    It is sent nothing more, and what is known of its deliveries goes with it. This cannot be undone. To stop
    it for a while, pause it.
  </Confirm>
);
