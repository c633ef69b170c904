/** One app: what it is, what it used, how calls say that they are its own, and what everybody may see of it. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Money, When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { AppFields } from "./app-form.tsx";
import { type App, categoryText, faultsOf, namesOf, patchBody, useOf, valuesOf } from "./app-values.ts";
import { Published } from "./published.tsx";
import { useAppUse } from "./use.tsx";

export function AppPage({ slug }: { readonly slug: string }) {
  const shown = useAnswer("getApp", { params: { slug } });
  const app = shown.value.value;
  const back = <Link to={["apps"]}>All apps</Link>;
  if (app === undefined) {
    return (
      <Page title="App" about={back}>
        <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
        {shown.fault.value === undefined && <Waiting />}
      </Page>
    );
  }
  return (
    <Page title={app.name} about={back} actions={mayCall("deleteApp") && <Delete app={app} />}>
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      <div class="columns">
        <Settings app={app} onChange={shown.refresh} />
        <Use app={app} />
      </div>
      <Published app={app} onChange={shown.refresh} />
      <Panel title="How calls say that they are the app's">
        <p>
          By its name or its short name in the header <code>X-Title</code>, by its address in{" "}
          <code>HTTP-Referer</code>, or by <code>svc.metadata.app</code> in the body, which counts first.
          Calls of other organisations never count, whatever they carry.
        </p>
        <TextBlock
          title="With curl"
          text={`curl ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $WEIR_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "X-Title: ${app.slug}" \\
  -d '{"model": "VENDOR/MODEL", "messages": [{"role": "user", "content": "Hello"}]}'`}
        />
      </Panel>
    </Page>
  );
}

interface OfApp {
  readonly app: App;
}

function Delete({ app }: OfApp) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button kind="danger" onClick={() => setAsked(true)}>
        Delete app
      </Button>
      {isAsked && (
        <Confirm
          title={`Delete "${app.name}"?`}
          act="Delete app"
          onClose={() => setAsked(false)}
          onAct={async () => {
            await call("deleteApp", { params: { slug: app.slug } });
            go(pageAddress(orgSlug.value, ["apps"]), "replace");
          }}
        >
          Its public page and badge are gone at once, and others may take its short name. Its calls stay among
          the requests, under the name that they carried. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

function Settings({ app, onChange }: OfApp & { readonly onChange: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel
      title="Settings"
      actions={mayCall("updateApp") && !isOpen && <Button onClick={() => setOpen(true)}>Change</Button>}
    >
      {isOpen ? (
        <Form app={app} onClose={() => setOpen(false)} onChange={onChange} />
      ) : (
        <Facts
          rows={[
            ["Short name", <code>{app.slug}</code>],
            ["Category", categoryText(app.category)],
            ["Web address", app.url === "" ? "none" : app.url],
            ["Seen by", app.public ? "everybody" : "the organisation alone"],
            ["Registered", <When at={app.created_at} />],
          ]}
        />
      )}
    </Panel>
  );
}

interface FormProps extends OfApp {
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function Form({ app, onClose, onChange }: FormProps) {
  const [values, setValues] = useState(() => valuesOf(app));
  const act = useAct();
  const body = patchBody(app, values);
  const save = () => {
    if (body === undefined || Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      await call("updateApp", { params: { slug: app.slug }, body });
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
      <AppFields values={values} onValues={setValues} isNew={false} isTried fault={act.fault} />
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={body === undefined}>
          Save changes
        </Button>
        <Button onClick={onClose}>Discard</Button>
      </div>
    </form>
  );
}

function Use({ app }: OfApp) {
  const use = useAppUse();
  if (use === undefined) return null;
  const groups = use.value.value?.groups;
  const { count } = format.value;
  const used = groups && useOf(app, groups);
  return (
    <Panel
      title="Use in the last 30 days"
      actions={
        <Link to={["overview"]} filters={{ range: "30d", by: "app" }}>
          Beside other apps
        </Link>
      }
    >
      <FaultNote fault={use.fault.value} onRetry={use.refresh} />
      {used === undefined && use.fault.value === undefined && <Waiting />}
      {used !== undefined && (
        <div class="figures">
          <Figure label="Requests" value={count(used.requests)} />
          <Figure label="Tokens" value={count(used.tokens)} />
          <Figure label="Cost" value={<Money micro={used.costMicro} />} />
        </div>
      )}
      {mayCall("listRequests") && (
        <p class="row">
          <span class="quiet small">Requests that carry</span>
          {namesOf(app).map((name) => (
            <Link key={name} to={["requests"]} filters={{ app_id: name, within: "30d" }} class="break">
              {name}
            </Link>
          ))}
        </p>
      )}
    </Panel>
  );
}
