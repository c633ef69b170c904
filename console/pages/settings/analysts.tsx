/** Settings, Analysts' access: users of the analytics database who read the org's records, and how their tools connect. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { Connect } from "./connect.tsx";
import { ANY_PASSWORD } from "./connection.ts";
import { showOnce } from "./shown-once.tsx";

type Users = Answer<"listAnalyticsUsers">;
type User = Users["data"][number];

type Asked = { readonly about: "new" } | { readonly about: "connect" | "delete"; readonly user: User };

export function Analysts() {
  const users = useAnswer("listAnalyticsUsers", {});
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const answer = users.value.value;
  const close = () => setAsked(undefined);
  return (
    <>
      <Panel
        title="Users of the analytics database"
        actions={
          mayCall("createAnalyticsUser") && (
            <Button kind="main" onClick={() => setAsked({ about: "new" })}>
              New user
            </Button>
          )
        }
      >
        <p class="quiet">
          For spreadsheets, notebooks and dashboards: a user reads this organisation's records by SQL, changes
          nothing, and ends by itself.
        </p>
        <FaultNote fault={users.fault.value} onRetry={users.refresh} />
        {answer === undefined && users.fault.value === undefined && <Waiting />}
        {answer?.data.length === 0 && (
          <div class="empty">There is none yet. Make one for each tool that connects.</div>
        )}
        {answer !== undefined && answer.data.length > 0 && <Listed of={answer} onAsk={setAsked} />}
      </Panel>
      <WhatMayBeAsked />
      {asked?.about === "new" && <NewUser onClose={close} onMade={users.refresh} />}
      {asked?.about === "connect" && answer?.url !== undefined && (
        <Dialog title={`Connect as "${asked.user.name}"`} onClose={close}>
          <p>The password was shown when the user was made. Put it in the place of {ANY_PASSWORD}.</p>
          <Connect
            to={{
              url: answer.url,
              database: answer.database,
              username: asked.user.username,
              password: ANY_PASSWORD,
            }}
          />
          <div class="dialog-foot">
            <Button onClick={close}>Close</Button>
          </div>
        </Dialog>
      )}
      {asked?.about === "delete" && (
        <Confirm
          title={`Delete "${asked.user.name}"?`}
          act="Delete user"
          onClose={close}
          onAct={async () => {
            await call("deleteAnalyticsUser", { params: { id: asked.user.id } });
            users.refresh();
          }}
        >
          The database refuses it from its next question on. This cannot be undone: another user has another
          name and password.
        </Confirm>
      )}
    </>
  );
}

interface ListedProps {
  readonly of: Users;
  readonly onAsk: (asked: Asked) => void;
}

const Listed = ({ of: { data, url }, onAsk }: ListedProps) => (
  <Table
    label="Users of the analytics database"
    rows={data}
    keyOf={({ id }) => id}
    columns={[
      { head: "What it is for", cell: ({ name }) => <span class="break">{name}</span> },
      { head: "User name", cell: ({ username }) => <code class="break">{username}</code> },
      { head: "Made", cell: ({ created_at: at }) => <When at={at} as="day" /> },
      {
        head: "Ends",
        cell: ({ expires_at: at }) =>
          Date.parse(at) <= Date.now() ? <Badge>ended</Badge> : <When at={at} as="day" />,
      },
      {
        head: "",
        cell: (user) => (
          <span class="row nowrap">
            {url !== undefined && (
              <Button
                aria-label={`How to connect as ${user.name}`}
                onClick={() => onAsk({ about: "connect", user })}
              >
                Connect
              </Button>
            )}
            {mayCall("deleteAnalyticsUser") && (
              <Button
                kind="danger"
                aria-label={`Delete ${user.name}`}
                onClick={() => onAsk({ about: "delete", user })}
              >
                Delete
              </Button>
            )}
          </span>
        ),
      },
    ]}
  />
);

const DAY_SECONDS = 86_400;
const LIFETIMES = [
  [String(DAY_SECONDS), "In a day"],
  [String(7 * DAY_SECONDS), "In 7 days"],
  [String(30 * DAY_SECONDS), "In 30 days"],
  [String(90 * DAY_SECONDS), "In 90 days"],
  [String(365 * DAY_SECONDS), "In a year"],
] as const;

function NewUser({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const [name, setName] = useState("");
  const [expiresIn, setExpiresIn] = useState(String(30 * DAY_SECONDS));
  const act = useAct();
  const make = () =>
    act.run(async () => {
      const made = await call("createAnalyticsUser", {
        body: { name: name.trim(), expires_in: Number(expiresIn) },
      });
      onMade();
      onClose();
      showOnce({
        title: `The password of "${made.name}"`,
        secret: made.password,
        what: "password",
        about: <Connect to={made} />,
      });
    });
  const isPlaced = act.fault?.param === "/name" || act.fault?.param === "/expires_in";
  return (
    <Dialog title="New user of the analytics database" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") make();
        }}
      >
        <TextField
          label="What it is for"
          value={name}
          onValue={setName}
          fault={faultAt(act.fault, "/name")}
          hint="Such as the tool that connects: Metabase, Ada's notebook"
          maxLength={100}
          autoFocus
        />
        <Choice
          label="It ends"
          value={expiresIn}
          onValue={setExpiresIn}
          fault={faultAt(act.fault, "/expires_in")}
          options={LIFETIMES}
        />
        {!isPlaced && <FaultNote fault={act.fault} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>Discard</Button>
          <Button kind="main" type="submit" isBusy={act.isBusy} disabled={name.trim() === ""}>
            Make user
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const WhatMayBeAsked = () => (
  <Panel title="What may be asked">
    <p>
      One statement at a time that reads: joins, windows, and some 1,400 functions. The tables are{" "}
      <code>requests</code>, <code>payloads</code>, <code>attempts</code>, <code>shadow_runs</code>,{" "}
      <code>ledger</code>, and the sums <code>usage_hourly</code> and <code>usage_tags_daily</code>; each has
      this organisation's rows alone.
    </p>
    <p class="quiet small">
      A statement takes 60 seconds and 1 GB of memory at most, and answers up to a million rows. Records are
      there about two seconds after their call. Balances come from the ledger on the page Credits, never from
      these tables.
    </p>
  </Panel>
);
