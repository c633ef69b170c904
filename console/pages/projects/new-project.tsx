/** A new project. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { NotOpen } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { ProjectFields } from "./project-form.tsx";
import { createBody, faultsOf, NEW_PROJECT } from "./project-values.ts";

export function NewProject() {
  const about = <Link to={["projects"]}>All projects</Link>;
  return (
    <Page title="New project" about={about}>
      {mayCall("createProject") ? (
        <Form />
      ) : (
        <NotOpen>It reads projects and makes none. An admin can make one, or change your role.</NotOpen>
      )}
    </Page>
  );
}

function Form() {
  const [values, setValues] = useState(NEW_PROJECT);
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const create = () => {
    setTried(true);
    if (Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      const { id } = await call("createProject", { body: createBody(values) });
      go(pageAddress(orgSlug.value, ["projects", id]), "replace");
    });
  };
  return (
    <Panel title="The project">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <ProjectFields values={values} onValues={setValues} isTried={isTried} fault={act.fault} isNew />
        <div class="row">
          <Button kind="main" type="submit" isBusy={act.isBusy}>
            Create project
          </Button>
        </div>
      </form>
    </Panel>
  );
}
