/** The page "Sessions": where the person is signed in, which of these is this one, and how to end the others. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { me, org, signOut } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { agentWords } from "./agent-words.ts";

type Session = Answer<"listSessions">["data"][number];

export function Sessions() {
  const list = useAnswer("listSessions", {});
  const act = useAct();
  const all = [...(list.value.value?.data ?? [])].reverse();
  const others = all.filter(({ current }) => !current);
  const end = (id: string) =>
    act.run(async () => {
      await call("endSession", { params: { id } });
      list.refresh();
    });
  return (
    <Page
      title="Sessions"
      about={`Where you are signed in as ${me.value?.user.email ?? ""}. End what you do not know. A browser that is still signed in at your identity provider can come back: sign out or change the password there, too.`}
      actions={others.length > 0 && <EndOthers others={others} onDone={list.refresh} />}
    >
      <FaultNote fault={list.fault.value} onRetry={list.refresh} />
      <FaultNote fault={act.fault} />
      <Panel title="Your sessions">
        {list.value.value === undefined
          ? list.fault.value === undefined && <Waiting />
          : all.length > 0 && (
              <Table
                label="Your sessions"
                columns={columnsOf(act.isBusy, end)}
                rows={[...all.filter(({ current }) => current), ...others]}
                keyOf={({ id }) => id}
              />
            )}
        <p class="quiet small">The network is as it was at sign-in. What a browser is, it says of itself.</p>
      </Panel>
      <OfTheOrg />
    </Page>
  );
}

const columnsOf = (isBusy: boolean, onEnd: (id: string) => void): readonly Column<Session>[] => [
  {
    head: "Browser",
    cell: ({ user_agent: agent, current }) => (
      <span class="row">
        <span class="nowrap" title={agent}>
          {agentWords(agent)}
        </span>
        {current && <Badge tone="accent">this one</Badge>}
      </span>
    ),
  },
  { head: "Signed in", cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: "From the network",
    cell: ({ ip_prefix: from }) => <code class="nowrap">{from || "not known"}</code>,
  },
  {
    head: "Second factor",
    cell: ({ second_factor: has }) => (has ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>),
  },
  { head: "Ends by itself", cell: ({ ends_at: at }) => <When at={at} /> },
  {
    head: "End",
    cell: ({ id, current, user_agent: agent }) =>
      current ? (
        <Button onClick={() => void signOut()}>Sign out here</Button>
      ) : (
        <Button isBusy={isBusy} aria-label={`End session of ${agentWords(agent)}`} onClick={() => onEnd(id)}>
          End session
        </Button>
      ),
  },
];

interface EndOthersProps {
  readonly others: readonly Session[];
  readonly onDone: () => void;
}

function EndOthers({ others, onDone }: EndOthersProps) {
  const [isAsked, setAsked] = useState(false);
  const count = others.length;
  return (
    <>
      <Button kind="danger" onClick={() => setAsked(true)}>
        End all others
      </Button>
      {isAsked && (
        <Confirm
          title={count === 1 ? "End the other session?" : `End the ${count} other sessions?`}
          act={count === 1 ? "End session" : "End sessions"}
          keep={count === 1 ? "Keep it" : "Keep them"}
          onClose={() => setAsked(false)}
          onAct={async () => {
            try {
              for (const { id } of others) await call("endSession", { params: { id } });
            } finally {
              onDone();
            }
          }}
        >
          Those browsers must sign in again, from their next request on. This one stays.
        </Confirm>
      )}
    </>
  );
}

/** What the org that is shown asks of sessions. */
function OfTheOrg() {
  const shown = org.value;
  if (shown === undefined) return null;
  const { session_hours: hours, require_2fa: isTwo, console_ip_allow: allowed } = shown.settings.security;
  const networks = allowed.length === 1 ? "from one network only" : `from ${allowed.length} networks only`;
  return (
    <Panel title={`What ${shown.name} asks`}>
      <Facts
        rows={[
          ["Sign in again after", hours === 1 ? "an hour" : `${hours} hours`],
          ["Second factor", isTwo ? "asked for" : "not asked for"],
          ["Networks", allowed.length === 0 ? "from anywhere" : networks],
        ]}
      />
      {me.value !== undefined && <EndsHere hours={hours} of={me.value.session} />}
    </Panel>
  );
}

const MS_AN_HOUR = 3_600_000;

/** An org opens to a session for so long after sign-in, and no longer than the session itself lasts. */
function EndsHere({
  hours,
  of: { created_at: since, ends_at: ends },
}: {
  readonly hours: number;
  readonly of: Session;
}) {
  const at = new Date(Math.min(Date.parse(since) + hours * MS_AN_HOUR, Date.parse(ends))).toISOString();
  return (
    <p>
      This session opens it until <When at={at} />.
    </p>
  );
}
