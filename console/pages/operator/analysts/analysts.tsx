/** Read-only users of the analytics database for the rows of all organisations: made for a tool, and deleted again. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../../api/act.ts";
import { useAnswer } from "../../../api/answers.ts";
import { type Answer, call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Copy } from "../../../parts/copy.tsx";
import { Confirm, Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Choice, TextField } from "../../../parts/field.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { connectionOf } from "./connection.ts";

type Analyst = Answer<"operatorListAnalyticsUsers">["data"][number];
type Made = Answer<"operatorCreateAnalyticsUser">;

export function Analysts() {
  const answer = useAnswer("operatorListAnalyticsUsers", {});
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<Made | undefined>(undefined);
  const [dropped, setDropped] = useState<Analyst | undefined>(undefined);
  const shown = answer.value.value?.data;
  return (
    <Page
      title="Analysts"
      about="Users of the analytics database that read the rows of all organisations, and change nothing."
      actions={
        <Button kind="main" onClick={() => setNew(true)}>
          New analyst
        </Button>
      }
    >
      <Panel title="Analysts of the installation" isBusy={shown !== undefined && answer.isBusy.value}>
        <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
        {shown === undefined && answer.fault.value === undefined && <Waiting />}
        {shown?.length === 0 && <p class="quiet">There is none. A tool for reports connects as one.</p>}
        {shown !== undefined && shown.length > 0 && (
          <Table label="Analysts" rows={shown} keyOf={({ id }) => id} columns={columnsOf(setDropped)} />
        )}
      </Panel>
      {isNew && (
        <NewAnalyst
          onClose={() => setNew(false)}
          onMade={(next) => {
            setMade(next);
            answer.refresh();
          }}
        />
      )}
      {made !== undefined && <Password of={made} onClose={() => setMade(undefined)} />}
      {dropped !== undefined && (
        <Confirm
          title={`Delete the analyst "${dropped.name}"?`}
          act="Delete analyst"
          onClose={() => setDropped(undefined)}
          onAct={async () => {
            await call("operatorDeleteAnalyticsUser", { params: { id: dropped.id } });
            answer.refresh();
          }}
        >
          The database refuses <code>{dropped.username}</code> from then on. This cannot be undone.
        </Confirm>
      )}
    </Page>
  );
}

const columnsOf = (onDelete: (analyst: Analyst) => void): readonly Column<Analyst>[] => [
  { head: "Name", cell: ({ name }) => <span class="break">{name}</span> },
  { head: "User", cell: ({ username }) => <Copy text={username} what="name of the user" /> },
  { head: "Made", cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: "Ends",
    cell: ({ expires_at: at }) => (Date.parse(at) < Date.now() ? <Badge>ended</Badge> : <When at={at} />),
  },
  {
    head: "What to do",
    cell: (analyst) => (
      <Button kind="danger" onClick={() => onDelete(analyst)} aria-label={`Delete ${analyst.name}`}>
        Delete
      </Button>
    ),
  },
];

const DAY_S = 86_400;
const LIFETIMES = [
  [String(DAY_S), "In a day"],
  [String(7 * DAY_S), "In 7 days"],
  [String(30 * DAY_S), "In 30 days"],
  [String(365 * DAY_S), "In a year"],
] as const;

interface NewProps {
  readonly onClose: () => void;
  readonly onMade: (made: Made) => void;
}

function NewAnalyst({ onClose, onMade }: NewProps) {
  const [name, setName] = useState("");
  const [seconds, setSeconds] = useState<string>(String(30 * DAY_S));
  const act = useAct();
  const make = () =>
    act.run(async () => {
      const body = { name: name.trim(), expires_in: Number(seconds) };
      onMade(await call("operatorCreateAnalyticsUser", { body }));
      onClose();
    });
  const fault = faultAt(act.fault, "/name");
  return (
    <Dialog title="New analyst" onClose={onClose}>
      <p>It reads the calls of all organisations. Their prompts and answers are not among what it reads.</p>
      <TextField
        label="Name"
        hint="What connects: Metabase, the monthly report"
        value={name}
        onValue={setName}
        maxLength={100}
        fault={fault}
      />
      <Choice label="It ends" value={seconds} onValue={setSeconds} options={LIFETIMES} />
      {fault === undefined && <FaultNote fault={act.fault} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" isBusy={act.isBusy} disabled={name.trim() === ""} onClick={make}>
          Make analyst
        </Button>
      </div>
    </Dialog>
  );
}

/** Shown once, so no stray key or click closes it. */
function Password({ of: made, onClose }: { readonly of: Made; readonly onClose: () => void }) {
  return (
    <Dialog title={`The password of "${made.name}"`} onClose={onClose} isKept>
      <Note tone="warn">It is shown once. Store it now.</Note>
      <Facts
        rows={[
          ["Address", <Copy text={made.url} what="address of the database" />],
          ["Database", <Copy text={made.database} what="name of the database" />],
          ["User", <Copy text={made.username} what="name of the user" />],
          ["Password", <Copy text={made.password} what="password" />],
          ["Ends", <When at={made.expires_at} />],
        ]}
      />
      <p class="small quiet">All of it in one line, for ClickHouse's clients that take an address:</p>
      <Copy text={connectionOf(made)} what="connection" />
      <div class="dialog-foot">
        <Button kind="main" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
