/** Settings, Directory: where an identity provider adds and removes members (SCIM), by which token, and what it did. */
import { useState } from "preact/hooks";
import { type Act, useAct } from "../../api/act.ts";
import { useAnswer, usePages } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { DirectorySteps } from "./directory-steps.tsx";
import { callWords, statusWords } from "./directory-words.ts";
import { showOnce } from "./shown-once.tsx";

type Token = Answer<"getScimToken">;

const addressOf = (): string => `${location.origin}/scim/v2`;

export function Directory() {
  const answer = useAnswer("getScimToken", {});
  const log = usePages("listScimLog", {});
  const fault = answer.fault.value;
  const token = fault === undefined ? answer.value.value : undefined;
  const hasNone = fault?.code === "not_found";
  if (fault?.code === "plan_feature") {
    return (
      <Note>
        <p>
          The plan of this organisation has no directory. With one, an identity provider such as Entra ID or
          Okta adds, changes and removes members by itself.
        </p>
      </Note>
    );
  }
  const changed = () => {
    answer.refresh();
    log.refresh();
  };
  return (
    <>
      {!hasNone && <FaultNote fault={fault} onRetry={answer.refresh} />}
      {token === undefined && fault === undefined && <Waiting />}
      {(token !== undefined || hasNone) && <TokenPanel token={token} onChange={changed} />}
      <DirectorySteps address={addressOf()} />
      <Panel title="What the directory asked for" actions={<Button onClick={log.refresh}>Refresh</Button>}>
        <ListTable
          label="Calls of the directory"
          list={log}
          keyOf={({ id }) => id}
          empty="Nothing in the last 30 days. The first calls come once your identity provider tests the connection."
          columns={[
            { head: "When", cell: ({ ts }) => <When at={ts} /> },
            {
              head: "Asked",
              cell: ({ method, path }) => <span title={`${method} ${path}`}>{callWords(method, path)}</span>,
            },
            { head: "User", cell: ({ user_name: name }) => <span class="break">{name}</span> },
            {
              head: "Answer",
              cell: ({ status }) => <Badge tone={status < 400 ? "good" : "bad"}>{statusWords(status)}</Badge>,
            },
            { head: "Why it failed", cell: ({ error }) => <span class="break">{error}</span> },
          ]}
        />
      </Panel>
    </>
  );
}

interface TokenProps {
  readonly token: Token | undefined;
  readonly onChange: () => void;
}

function TokenPanel({ token, onChange }: TokenProps) {
  const [asks, setAsks] = useState<"replace" | "revoke" | undefined>(undefined);
  const act = useAct();
  const isLive = token?.status === "active";
  return (
    <Panel
      title="Address and token"
      actions={<TokenActs isLive={isLive} act={act} onAsk={setAsks} onChange={onChange} />}
    >
      <p class="quiet">
        An identity provider that speaks SCIM 2.0 adds, changes and removes members here, and gives them roles
        by its groups.
      </p>
      <Facts
        rows={[
          ["Address", <Copy key="address" text={addressOf()} what="address" />],
          ["Token", token === undefined ? "none yet" : <TokenState key="token" of={token} />],
          ["Made", token === undefined ? undefined : <When key="made" at={token.created_at} />],
          ["Last used", token === undefined ? undefined : <LastUsed key="used" day={token.last_used} />],
          [
            "The one before works until",
            token?.previous_works_until == null || !isLive ? undefined : (
              <When key="previous" at={token.previous_works_until} />
            ),
          ],
        ]}
      />
      <FaultNote fault={act.fault} />
      {asks === "replace" && (
        <Confirm
          title="Replace the directory's token?"
          act="Replace token"
          onClose={() => setAsks(undefined)}
          onAct={async () => {
            await made();
            onChange();
          }}
        >
          Another token is made and shown once. The one that works now goes on for 24 hours, so that your
          identity provider can be told meanwhile; then it ends.
        </Confirm>
      )}
      {asks === "revoke" && (
        <Confirm
          title="Revoke the directory's token?"
          act="Revoke token"
          onClose={() => setAsks(undefined)}
          onAct={async () => {
            await call("revokeScimToken", {});
            onChange();
          }}
        >
          The next call of your identity provider is refused. Members stay, and can be changed by hand from
          then on. It cannot be undone: later you can make another token.
        </Confirm>
      )}
    </Panel>
  );
}

/** The day is one of UTC. */
const LastUsed = ({ day }: { readonly day: string | null }) => (
  <>{day === null ? "never" : format.value.day(`${day}T12:00:00Z`)}</>
);

const TokenState = ({ of: { hint, status } }: { readonly of: Token }) => (
  <span class="row">
    <code>{hint}</code>
    <Badge tone={status === "active" ? "good" : "plain"}>{status === "active" ? "works" : "revoked"}</Badge>
  </span>
);

async function made(): Promise<void> {
  const { token } = await call("createScimToken", {});
  showOnce({
    title: "The directory's token",
    secret: token,
    what: "token",
    about: (
      <p>
        Your identity provider asks for it as "Secret token" (Entra ID) or as the value of the HTTP header
        (Okta). The address is <Copy text={addressOf()} what="address" />
      </p>
    ),
  });
}

interface ActsProps {
  readonly isLive: boolean;
  readonly act: Act;
  readonly onAsk: (about: "replace" | "revoke") => void;
  readonly onChange: () => void;
}

function TokenActs({ isLive, act, onAsk, onChange }: ActsProps) {
  const make = () =>
    act.run(async () => {
      await made();
      onChange();
    });
  if (!isLive) {
    return mayCall("createScimToken") ? (
      <Button kind="main" isBusy={act.isBusy} onClick={make}>
        Make a token
      </Button>
    ) : null;
  }
  return (
    <>
      {mayCall("createScimToken") && <Button onClick={() => onAsk("replace")}>Replace token</Button>}
      {mayCall("revokeScimToken") && (
        <Button kind="danger" onClick={() => onAsk("revoke")}>
          Revoke token
        </Button>
      )}
    </>
  );
}
