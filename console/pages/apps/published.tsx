/** What everybody may see of an app: its page, its badge, and what is copied to show the badge elsewhere. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { type App, snippetsOf } from "./app-values.ts";

interface PublishedProps {
  readonly app: App;
  readonly onChange: () => void;
}

export function Published({ app, onChange }: PublishedProps) {
  if (!app.public) {
    return (
      <Panel
        title="Public page and badge"
        actions={mayCall("updateApp") && <Publish app={app} onChange={onChange} />}
      >
        <p>
          Only your organisation sees this app. Made public, it has a page that anybody may open, and a badge
          that you may show in a README or on a page of yours.
        </p>
      </Panel>
    );
  }
  const at = `/v1/apps/${encodeURIComponent(app.slug)}`;
  const { markdown, markup } = snippetsOf(app, location.origin);
  return (
    <Panel
      title="Public page and badge"
      actions={
        <>
          <a class="button" href={`${at}/public`} target="_blank" rel="noopener">
            Open the public page
          </a>
          {mayCall("updateApp") && <Hide app={app} onChange={onChange} />}
        </>
      }
    >
      <p>
        <img class="app-badge" src={`${at}/badge`} alt={`Badge of ${app.name}: its tokens of 30 days`} />
      </p>
      <p class="quiet small">
        Figures are a minute old at most. Where this gateway shows none of a single app, the badge says "no
        figures".
      </p>
      <div class="columns">
        <TextBlock title="The badge in Markdown" text={markdown} />
        <TextBlock title="The badge in HTML" text={markup} />
      </div>
    </Panel>
  );
}

function Publish({ app, onChange }: PublishedProps) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setAsked(true)}>Make public</Button>
      {isAsked && (
        <Confirm
          title={`Make "${app.name}" public?`}
          act="Make public"
          onClose={() => setAsked(false)}
          onAct={async () => {
            await call("updateApp", { params: { slug: app.slug }, body: { public: true } });
            onChange();
          }}
        >
          Everybody may then see its name, its category, its tokens and requests of each day, and which models
          it uses: on its page, by its badge, and among the most used apps. Nothing else of your organisation
          is shown. You can hide it again at any time.
        </Confirm>
      )}
    </>
  );
}

/** It takes effect at once, and can be undone: nothing is asked. */
function Hide({ app, onChange }: PublishedProps) {
  const act = useAct();
  const hide = () =>
    act.run(async () => {
      await call("updateApp", { params: { slug: app.slug }, body: { public: false } });
      onChange();
    });
  return (
    <>
      <Button isBusy={act.isBusy} onClick={hide}>
        Hide
      </Button>
      <FaultNote fault={act.fault} />
    </>
  );
}
