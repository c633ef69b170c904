/** Settings, Close and erase: how an org ends, what becomes of what it has, and what can still be called off. */
import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { mayCall, type Org, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Link } from "../../parts/link.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { CloseDialog } from "./close-dialog.tsx";
import { refreshOrg } from "./org-change.ts";

export function Closing() {
  const shown = org.value;
  if (shown === undefined) return null;
  return (
    <>
      <Note>
        <p>
          Take your data along first: <Link to={["settings", "export"]}>ask for an export</Link>. Closing and
          erasing are two things: a closed organisation can be read, an erased one is gone.
        </p>
      </Note>
      <Close of={shown} />
      <Erase of={shown} />
    </>
  );
}

function Close({ of: shown }: { readonly of: Org }) {
  const [isAsked, setAsked] = useState(false);
  if (shown.status === "closed") {
    return (
      <Panel title="Closed">
        <p>
          {shown.closed_at === undefined ? (
            "It is closed."
          ) : (
            <>
              Closed on <When at={shown.closed_at} />.
            </>
          )}{" "}
          It cannot be opened again.
        </p>
        {mayCall("refundTopup") && (
          <p>
            Paid credit that is left does not go back by itself. Where no refund was asked for with the
            closing, ask for it at each <Link to={["credits", "topups"]}>top-up</Link>, before an erasure.
          </p>
        )}
      </Panel>
    );
  }
  return (
    <Panel
      title="Close this organisation"
      actions={
        mayCall("closeOrg") && (
          <Button kind="danger" onClick={() => setAsked(true)}>
            Close organisation
          </Button>
        )
      }
    >
      <ul class="rules">
        <li>
          <strong>Keys</strong> stop at once: the next call of each is refused. Calls that run now end as they
          are.
        </li>
        <li>
          <strong>Money</strong>: the plan, automatic top-ups and mandates end, and no month is charged any
          more. Paid credit that is left is refunded where you ask for it. Granted credit ends.
        </li>
        <li>
          <strong>Members</strong> can still sign in to read. Nothing can be made or changed any more.
        </li>
        <li>
          <strong>Invoices and the ledger</strong> stay and can be read, as the law asks.
        </li>
      </ul>
      <p class="quiet small">There is no way back.</p>
      {isAsked && <CloseDialog of={shown} onClose={() => setAsked(false)} />}
    </Panel>
  );
}

function Erase({ of: shown }: { readonly of: Org }) {
  const [asks, setAsks] = useState<"erase" | "cancel" | undefined>(undefined);
  const due = shown.erasure_due_at;
  const close = () => setAsks(undefined);
  return (
    <Panel
      title="Erase all data"
      actions={
        due === undefined
          ? mayCall("requestErasure") && (
              <Button kind="danger" onClick={() => setAsks("erase")}>
                Ask for erasure
              </Button>
            )
          : mayCall("cancelErasure") && <Button onClick={() => setAsks("cancel")}>Call it off</Button>
      }
    >
      {due === undefined ? (
        <p>
          Thirty days after you ask, everything personal is removed: requests and answers, members, keys,
          policies, tickets, events. Until then you can call it off
          {shown.status === "active" && ", and the organisation works as before; then it is closed"}. Ledger,
          invoices and totals stay, without names.
        </p>
      ) : (
        <Note tone="warn">
          <p>
            All data will be erased on <When at={due} />. Until then an owner can call it off
            {shown.status === "active" && ", and the organisation works as before"}.
          </p>
        </Note>
      )}
      {asks === "erase" && (
        <Confirm
          title={`Erase all data of "${shown.name}" in 30 days?`}
          act="Ask for erasure"
          onClose={close}
          onAct={async () => {
            await call("requestErasure", { params: { org: shown.id } });
            await refreshOrg();
          }}
        >
          You can call it off until the day comes. Once it has begun it cannot be stopped or undone, and its
          people can no longer sign in to it. Ask for refunds before that day.
        </Confirm>
      )}
      {asks === "cancel" && (
        <Confirm
          title="Call off the erasure?"
          act="Call it off"
          onClose={close}
          onAct={async () => {
            await call("cancelErasure", { params: { org: shown.id } });
            await refreshOrg();
          }}
        >
          Nothing is erased then. You can ask for it again, and the thirty days begin anew.
        </Confirm>
      )}
    </Panel>
  );
}
