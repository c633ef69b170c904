/** A new app. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { NotOpen } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { AppFields } from "./app-form.tsx";
import { createBody, faultsOf, NEW_VALUES } from "./app-values.ts";

export function NewApp() {
  return (
    <Page title="New app" about={<Link to={["apps"]}>All apps</Link>}>
      {mayCall("createApp") ? <Form /> : <NotOpen>Owners and admins register apps.</NotOpen>}
    </Page>
  );
}

function Form() {
  const [values, setValues] = useState(NEW_VALUES);
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const create = () => {
    setTried(true);
    if (Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      const { slug } = await call("createApp", { body: createBody(values) });
      go(pageAddress(orgSlug.value, ["apps", slug]), "replace");
    });
  };
  return (
    <Panel title="The app">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <AppFields values={values} onValues={setValues} isNew isTried={isTried} fault={act.fault} />
        <div class="row">
          <Button kind="main" type="submit" isBusy={act.isBusy}>
            Create app
          </Button>
        </div>
      </form>
    </Panel>
  );
}
