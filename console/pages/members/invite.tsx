/** Invites somebody by e-mail, as a role that is not above one's own. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { mayCall, org, role as ownRole } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, NotOpen } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { RoleChoice } from "./role-choice.tsx";
import type { Role } from "./role-words.ts";

/** Days for which an invitation can be accepted. */
const DAYS = 14;

export function Invite() {
  return (
    <Page title="Invite somebody" about={<Link to={["members"]}>All members</Link>}>
      {mayCall("addMember") ? <Form /> : <NotOpen>Ask an owner or an admin to invite somebody.</NotOpen>}
    </Page>
  );
}

interface Sent {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
}

function Form() {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [isTried, setTried] = useState(false);
  const [sent, setSent] = useState<Sent | undefined>(undefined);
  const act = useAct();
  const invite = () => {
    setTried(true);
    if (email.trim() === "") return;
    act.run(async () => {
      const made = await call("addMember", {
        params: { org: org.value?.id ?? "" },
        body: { email: email.trim(), role },
      });
      setSent({ id: made.user_id, email: made.email, role: made.role });
      setEmail("");
      setTried(false);
    });
  };
  const missing = isTried && email.trim() === "" ? "Whom do you invite?" : undefined;
  return (
    <>
      {sent !== undefined && (
        <Note tone="good">
          <p class="break">
            <Link to={["members", sent.id]}>{sent.email}</Link> is invited as {sent.role}. A mail is on its
            way; they accept or decline at the page that it leads to.
          </p>
        </Note>
      )}
      <Panel title="The invitation">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            invite();
          }}
        >
          <TextField
            label="E-mail address"
            value={email}
            onValue={setEmail}
            fault={missing ?? faultAt(act.fault, "/email")}
            hint="Only whoever signs in with this address can accept"
            maxLength={254}
          />
          <RoleChoice value={role} onValue={setRole} own={ownRole.value} />
          {act.fault?.param !== "/email" && <FaultNote fault={act.fault} />}
          <div class="row">
            <Button kind="main" type="submit" isBusy={act.isBusy}>
              Send invitation
            </Button>
            <span class="quiet small">It can be accepted for {DAYS} days, and taken back until then.</span>
          </div>
        </form>
      </Panel>
    </>
  );
}
