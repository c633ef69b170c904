/** The request and the answer side by side, or why they are not kept. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { Conversation } from "../../parts/conversation.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { partsOf, type Turn, turnsOf } from "../../text/canonical.ts";

type Detail = Answer<"getRequest">;

const WHY_NOT: Readonly<Record<Detail["payload_state"], string>> = {
  available: "",
  off: "Request and answer were not kept: the data policy of the org, or of the call, says so.",
  zdr: "Request and answer were not kept: the call asked for zero data retention.",
  expired: "Request and answer were kept, and have been deleted: their time of retention is over.",
  erased: "Request and answer have been erased.",
  restricted: "Request and answer are kept, but are of another project than the key's.",
};

/** Beyond this a text keeps a browser busy; the API gives all of it. */
const MOST_SHOWN = 200_000;

export function Payload({ detail }: { readonly detail: Detail }) {
  const [view, setView] = useState("read");
  if (detail.payload_state !== "available") {
    return (
      <Panel title="Request and answer">
        <Note>{WHY_NOT[detail.payload_state]}</Note>
      </Panel>
    );
  }
  const tabs = (
    <Tabs
      label="Request and answer as"
      value={view}
      onValue={setView}
      options={[
        ["read", "To read"],
        ["canonical", "Canonical"],
        ["raw", "As it came"],
      ]}
    />
  );
  if (view === "raw") {
    return (
      <Panel title="Request and answer" actions={tabs}>
        <Raw id={detail.request_id} />
      </Panel>
    );
  }
  if (view === "canonical") {
    return (
      <Panel title="Request and answer" actions={tabs}>
        <div class="columns">
          <Json title="Request" value={detail.request} />
          <Json title="Answer" value={detail.response} />
        </div>
      </Panel>
    );
  }
  return (
    <Panel title="Request and answer" actions={tabs}>
      <div class="columns">
        <section class="stack" aria-label="Request">
          <h3>Request</h3>
          <Conversation turns={shortened(turnsOf(detail.request))} />
        </section>
        <section class="stack" aria-label="Answer">
          <h3>Answer</h3>
          {(detail.response?.candidates ?? []).length === 0 && <p class="quiet">There was none.</p>}
          <Conversation turns={shortened(answerTurns(detail))} />
        </section>
      </div>
    </Panel>
  );
}

const answerTurns = ({ response }: Detail): readonly Turn[] =>
  (response?.candidates ?? []).map(({ index, content, stop }) => ({
    role: `${index === 0 ? "assistant" : `assistant, answer ${index + 1}`}${stop.reason === "" ? "" : ` · ${stop.reason}`}`,
    parts: partsOf(content),
  }));

/** What is longer than a page can draw is cut, and says so. */
function shortened(turns: readonly Turn[]): readonly Turn[] {
  let left = MOST_SHOWN;
  return turns.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => {
      const text = part.text.slice(0, left);
      const cut = part.text.length - text.length;
      left -= text.length;
      return cut === 0
        ? part
        : { ...part, text: `${text}\n… ${cut} more characters, in "Canonical" or by the API` };
    }),
  }));
}

function Json({ title, value }: { readonly title: string; readonly value: unknown }) {
  const text = JSON.stringify(value ?? null, null, 2);
  return (
    <section class="stack" aria-label={title}>
      <div class="panel-head">
        <h3>{title}</h3>
        <CopyButton text={text} what={title} />
      </div>
      <pre class="tall">
        {text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… copy it for the rest` : text}
      </pre>
    </section>
  );
}

/** The client's own body, asked for when it is looked at. */
function Raw({ id }: { readonly id: string }) {
  const { value, fault, refresh } = useAnswer("getRequest", { params: { id }, query: { raw: "1" } });
  return (
    <>
      <FaultNote fault={fault.value} onRetry={refresh} />
      {value.value === undefined && fault.value === undefined && <Waiting />}
      {value.value !== undefined && (
        <Json title="The client's own body, redacted" value={value.value.request_raw} />
      )}
    </>
  );
}
