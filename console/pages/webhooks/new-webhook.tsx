/** A new webhook: its form, and then its secret, once. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { showSecret } from "../../parts/secret.tsx";
import { WebhookFields } from "./webhook-form.tsx";
import { bodyOf, faultsOf, NEW_VALUES } from "./webhook-values.ts";
import { nameOf } from "./webhook-words.ts";

export function NewWebhook() {
  const [values, setValues] = useState(NEW_VALUES);
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const create = () => {
    setTried(true);
    if (Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      const made = await call("createWebhook", { body: bodyOf(values) });
      showSecret({
        name: nameOf(made),
        secret: made.secret,
        about: "Your receiver checks with it that what it gets was sent from here, and by no one else.",
      });
      go(pageAddress(orgSlug.value, ["webhooks", made.id]), "replace");
    });
  };
  return (
    <Page title="New webhook" about={<Link to={["webhooks"]}>All webhooks</Link>}>
      <Panel title="The webhook">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            create();
          }}
        >
          <WebhookFields values={values} onValues={setValues} isTried={isTried} fault={act.fault} />
          <div class="row">
            <Button kind="main" type="submit" isBusy={act.isBusy}>
              Create webhook
            </Button>
            <span class="quiet small">The secret that signs is shown once, next.</span>
          </div>
        </form>
      </Panel>
    </Page>
  );
}
