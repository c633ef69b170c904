/** Connects a client: its settings to copy, a key of its own, and a tick once its first call is seen. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { type Answer, ApiError, call } from "../../api/call.ts";
import { useLive } from "../../api/live.ts";
import type { LiveState } from "../../api/live-state.ts";
import { filter, setFilters } from "../../app/router.ts";
import { mayCall, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy, CopyButton } from "../../parts/copy.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { When } from "../../parts/when.tsx";
import { CLIENTS, type Client } from "./clients.ts";

const clientId = filter("client");
const modelId = filter("model");

/** A key that was made on this page: its secret is nowhere else, and is gone with the page. */
type NewKey = Pick<Answer<"createKey">, "id" | "name" | "secret">;

/** Stands in the place of a secret that is not known. */
const ANY_KEY = "svc-live-…";

export function Setup() {
  const client = CLIENTS.find(({ id }) => id === clientId.value) ?? (CLIENTS[0] as Client);
  const [made, setMade] = useState<Readonly<Record<string, NewKey>>>({});
  const models = useAnswer("listModels", {});
  const known = models.value.value?.data ?? [];
  const model = modelId.value || known[0]?.id || "";
  const key = made[client.id];
  const { state } = useLive(org.value?.id ?? "");
  const filled = { origin: location.origin, key: key?.secret ?? ANY_KEY, model };
  return (
    <Page
      title="Set up"
      about="Point a client at this gateway: it needs the base URL, a key, and the name of a model."
    >
      <Tabs
        label="Client"
        value={client.id}
        onValue={(id) => setFilters({ client: id })}
        options={CLIENTS.map(({ id, name }) => [id, name] as const)}
      />
      <FaultNote fault={models.fault.value} onRetry={models.refresh} />
      <div class="columns">
        <Panel title={client.name}>
          <p class="quiet">{client.about}</p>
          <Choice
            label="Model"
            value={model}
            onValue={(id) => setFilters({ model: id })}
            options={known.map(({ id }) => [id, id] as const)}
          />
          <KeyStep client={client} made={key} onMade={(next) => setMade({ ...made, [client.id]: next })} />
          {client.steps(filled).map(({ title, text }) => (
            <section key={title} class="stack" aria-label={title}>
              <div class="panel-head">
                <h3>{title}</h3>
                <CopyButton text={text} what={title} />
              </div>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
              <pre tabIndex={0}>{text}</pre>
            </section>
          ))}
        </Panel>
        <Panel title="First call">
          <FirstCall client={client} made={key} state={state.value} />
        </Panel>
      </div>
    </Page>
  );
}

interface KeyStepProps {
  readonly client: Client;
  readonly made: NewKey | undefined;
  readonly onMade: (key: NewKey) => void;
}

/** A key for each client: what it spends is seen apart, and it can be revoked alone. */
function KeyStep({ client, made, onMade }: KeyStepProps) {
  const projects = useAnswer("listProjects", mayCall("createKey") ? {} : undefined);
  const [projectId, setProject] = useState("");
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  if (made !== undefined) {
    return (
      <Note tone="good">
        <p>
          The key "{made.name}" is made, and stands in the settings below. Its secret is shown on this page
          only: copy it before you leave.
        </p>
        <Copy text={made.secret} what="the key's secret" />
      </Note>
    );
  }
  if (!mayCall("createKey"))
    return <Note>Your role makes no keys. Ask for one, and put it in the place of {ANY_KEY}</Note>;
  const open = (projects.value.value?.data ?? []).filter(({ status }) => status === "active");
  const project = projectId || open[0]?.id;
  const make = async () => {
    if (project === undefined) return;
    setBusy(true);
    setFault(undefined);
    try {
      onMade(await call("createKey", { body: { name: client.name, project_id: project } }));
    } catch (error) {
      if (error instanceof ApiError) setFault(error);
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <FaultNote fault={fault ?? projects.fault.value} />
      {open.length > 1 && (
        <Choice
          label="Project"
          value={project ?? ""}
          onValue={setProject}
          options={open.map(({ id, name }) => [id, name] as const)}
        />
      )}
      <div class="row">
        <Button kind="main" isBusy={isBusy} disabled={project === undefined} onClick={() => void make()}>
          Make a key for {client.name}
        </Button>
        <span class="small quiet">Or put a key that you have in the place of {ANY_KEY}</span>
      </div>
    </div>
  );
}

interface FirstCallProps {
  readonly client: Client;
  readonly made: NewKey | undefined;
  readonly state: LiveState;
}

/** Seen by the key that was made for the client; without one, any call counts. */
function FirstCall({ client, made, state }: FirstCallProps) {
  const isOurs = ({ key_id: id }: { readonly key_id: string }) => made === undefined || id === made.id;
  const ended = state.ended.findLast(isOurs);
  const running = [...state.running.values()].find(isOurs);
  if (ended !== undefined && ended.status === "ok") {
    return (
      <Note tone="good">
        <p>
          ✓ {made === undefined ? "A call was seen" : `The first call of ${client.name} was seen`} at{" "}
          <When at={ended.ts} as="clock" />: {ended.model}.
        </p>
        <Link to={["requests", ended.request_id]}>Look at it</Link>
      </Note>
    );
  }
  if (ended !== undefined) {
    return (
      <Note tone="warn">
        <p>
          A call came and ended with {ended.status} {ended.error_code}.
        </p>
        <Link to={["requests", ended.request_id]}>See why</Link>
      </Note>
    );
  }
  return (
    <div class="empty" aria-live="polite">
      <p>{running === undefined ? `Waiting for the first call of ${client.name}.` : "A call is running."}</p>
      <p>It shows here the moment it comes.</p>
    </div>
  );
}
