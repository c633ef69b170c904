/** The first call of a new installation: made here, seen as it arrives, and then the way to a client. */
import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { useLive } from "../../api/live.ts";
import { org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { Lane } from "../playground/lane.ts";
import { textOf } from "../playground/message.ts";
import { CallStatus } from "../requests/call-status.tsx";

const FIRST_WORDS = "What is a weir?";

export function Welcome() {
  return (
    <Page
      title="Your first call"
      about="This gateway runs. Make a call, see it arrive, and point a client at it."
      actions={
        <Link to={["overview"]} class="button">
          Skip to the overview
        </Link>
      }
    >
      <div class="columns">
        <Try />
        <Arriving />
      </div>
      <Panel title="Next">
        <div class="row">
          <Link to={["setup"]} class="button">
            Set up a client
          </Link>
          <Link to={["playground"]} class="button">
            Compare models in the playground
          </Link>
          <a class="button" href="/docs">
            Read the API reference
          </a>
        </div>
      </Panel>
    </Page>
  );
}

/** One question to one model, with the reader's key of the playground. */
function Try() {
  const models = useAnswer("listModels", {});
  const projects = useAnswer("listProjects", {});
  const [words, setWords] = useState(FIRST_WORDS);
  const [chosen, setChosen] = useState("");
  const lane = useMemo(() => new Lane(), []);
  const chat = (models.value.value?.data ?? []).filter(({ modalities }) => modalities.out.includes("text"));
  const model = chosen || chat.find(({ id }) => id === "weir/sim-small")?.id || chat[0]?.id || "";
  const project = projects.value.value?.data.find(({ status }) => status === "active")?.id;
  const ask = () => {
    if (project === undefined || model === "" || words.trim() === "") return;
    lane.set([{ role: "user", content: [{ type: "text", text: words }] }]);
    void lane.ask({ model, messages: lane.messages }, project);
  };
  const answer = lane.growing.value?.parts ?? lane.turns.value.at(-1)?.message.content ?? [];
  const said = lane.turns.value.length === 1 && lane.growing.value === undefined ? [] : answer;
  return (
    <Panel title="Try a model">
      <FaultNote fault={models.fault.value ?? projects.fault.value} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <Choice
          label="Model"
          value={model}
          onValue={setChosen}
          options={chat.map(({ id }) => [id, id] as const)}
        />
        <TextField label="Question" value={words} onValue={setWords} autoFocus />
        <div class="row">
          <Button
            kind="main"
            type="submit"
            isBusy={lane.growing.value !== undefined}
            disabled={project === undefined}
          >
            Send
          </Button>
          <span class="small quiet">It is charged like any call; models named weir/sim-… are simulated.</span>
        </div>
      </form>
      <FaultNote fault={lane.fault.value} />
      <p class="said" aria-live="polite">
        {said.map(({ text }) => textOf(text)).join("")}
      </p>
      <Curl model={model} />
    </Panel>
  );
}

/** The same from a shell of the machine that the gateway runs on, whose folder has the first key. */
function Curl({ model }: { readonly model: string }) {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  const text = [
    `curl ${location.origin}/v1/chat/completions \\`,
    '  -H "Authorization: Bearer $(cat data/first-key)" -H "Content-Type: application/json" \\',
    `  -d '${body}'`,
  ].join("\n");
  return (
    <details>
      <summary>Or from a shell, in the folder of the gateway</summary>
      <div class="stack">
        <pre>{text}</pre>
        <div class="row">
          <CopyButton text={text} what="the command" />
        </div>
      </div>
    </details>
  );
}

const SHOWN = 8;

function Arriving() {
  const { state, fault } = useLive(org.value?.id ?? "");
  const { running, ended } = state.value;
  const runs = [...running.values()].toReversed().slice(0, SHOWN);
  return (
    <Panel title="See it arrive">
      <FaultNote fault={fault.value} />
      {runs.length === 0 && ended.length === 0 ? (
        <div class="empty" aria-live="polite">
          <p>Calls show here the moment they begin.</p>
        </div>
      ) : (
        <ul class="arrivals" aria-live="polite">
          {runs.map((call) => (
            <li key={call.request_id}>
              <When at={call.started_at} as="clock" /> <span class="break">{call.model}</span>{" "}
              <span class="quiet">runs</span>
            </li>
          ))}
          {ended.slice(0, SHOWN).map((call) => (
            <li key={call.request_id}>
              <When at={call.ts} as="clock" /> <span class="break">{call.model}</span>{" "}
              <CallStatus status={call.status} code={call.error_code} /> {format.value.money(call.cost_micro)}{" "}
              <Link to={["requests", call.request_id]}>Look at it</Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
