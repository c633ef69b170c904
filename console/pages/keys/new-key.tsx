/** A new key: its form, and then its secret, once. */
import { useEffect, useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { ROLE_SCOPES } from "../../api/operations.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, org, orgSlug, role } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, NotOpen, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { KeyFields } from "./key-form.tsx";
import { createBody, faultsOf, type KeyValues, newValues } from "./key-values.ts";
import { newLifetimes } from "./key-words.ts";
import { showSecret } from "./secret.tsx";

export function NewKey() {
  if (!mayCall("createKey")) {
    return (
      <Page title="New key">
        <NotOpen>It reads keys and makes none. An admin can change your role.</NotOpen>
        <p>
          <Link to={["keys"]}>All keys</Link>
        </p>
      </Page>
    );
  }
  return <Form />;
}

function Form() {
  const projects = useAnswer("listProjects", {});
  const limits = useAnswer("getLimits", { query: { limit: 1 } });
  const [values, setValues] = useState<KeyValues | undefined>(undefined);
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const open = (projects.value.value?.data ?? []).filter(({ status }) => status === "active");
  const first = open.at(-1);
  useEffect(() => {
    if (values === undefined && first !== undefined) setValues(newValues(first));
  }, [first]);
  const create = () => {
    setTried(true);
    if (values === undefined || Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      const { id, name, secret } = await call("createKey", { body: createBody(values) });
      showSecret({ id, name, secret });
      go(pageAddress(orgSlug.value, ["keys", id]), "replace");
    });
  };
  const choose = (id: string) => {
    const chosen = open.find((project) => project.id === id);
    if (values !== undefined && chosen !== undefined)
      setValues({ ...values, projectId: id, environment: chosen.environment });
  };
  return (
    <Page title="New key" about={<Link to={["keys"]}>All keys</Link>}>
      <Panel title="The key">
        <FaultNote fault={projects.fault.value} onRetry={() => projects.refresh()} />
        {values === undefined && projects.fault.value === undefined && <Waiting />}
        {values !== undefined && (
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault();
              create();
            }}
          >
            <div class="columns">
              <Choice
                label="Project"
                value={values.projectId}
                onValue={choose}
                fault={faultAt(act.fault, "/project_id")}
                options={open.map(({ id, name }) => [id, name] as const)}
              />
              <Environment values={values} onValues={setValues} projects={open} />
            </div>
            <KeyFields
              values={values}
              onValues={setValues}
              isTried={isTried}
              fault={act.fault}
              plan={limits.value.value?.plan}
              scopes={ROLE_SCOPES[role.value ?? "viewer"]}
              lifetimes={newLifetimes(org.value?.settings.security.key_default_expiry_days ?? 0)}
            />
            <div class="row">
              <Button kind="main" type="submit" isBusy={act.isBusy}>
                Create key
              </Button>
              <span class="quiet small">The secret is shown once, next.</span>
            </div>
          </form>
        )}
      </Panel>
    </Page>
  );
}

interface EnvironmentProps {
  readonly values: KeyValues;
  readonly onValues: (values: KeyValues) => void;
  readonly projects: readonly { readonly id: string; readonly environment: "live" | "test" }[];
}

/** A test project holds test keys only. */
function Environment({ values, onValues, projects }: EnvironmentProps) {
  const isTest = projects.find(({ id }) => id === values.projectId)?.environment === "test";
  return (
    <Choice
      label="Environment"
      value={values.environment}
      onValue={(value) => onValues({ ...values, environment: value === "test" ? "test" : "live" })}
      options={[
        ...(isTest ? [] : [["live", "Live: reaches every model, spends credit"] as const]),
        ["test", "Test: reaches simulated models, spends nothing"] as const,
      ]}
    />
  );
}
