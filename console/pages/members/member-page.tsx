/** One member, or somebody who is invited: who they are, their role, the keys that they made, and what can be done. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { useAnswer, usePages } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { mayCall, me, org, role as ownRole, refreshSession } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { KEY_COLUMNS } from "../keys/key-columns.tsx";
import { MemberActs } from "./member-acts.tsx";
import { isLastOwner, isWaiting, type Member, nameOf, STATUS_TONES, STATUS_WORDS } from "./member-words.ts";
import { RoleChoice } from "./role-choice.tsx";
import { mayGive, roleSentence } from "./role-words.ts";

const KEYS = 20;

export function MemberPage({ id }: { readonly id: string }) {
  const list = useAnswer("listMembers", { params: { org: org.value?.id ?? "" } });
  const all = list.value.value?.data;
  const member = all?.find((each) => each.user_id === id);
  const about = <Link to={["members"]}>All members</Link>;
  if (all === undefined || member === undefined) {
    return (
      <Page title="Member" about={about}>
        <FaultNote fault={list.fault.value} onRetry={list.refresh} />
        {all !== undefined ? (
          <Note>They are not in this organisation, or not any more.</Note>
        ) : (
          list.fault.value === undefined && <Waiting />
        )}
      </Page>
    );
  }
  const isLast = isLastOwner(member, all);
  return (
    <Page
      title={nameOf(member)}
      about={about}
      actions={<MemberActs of={member} isLastOwner={isLast} onChange={list.refresh} />}
    >
      <FaultNote fault={list.fault.value} onRetry={list.refresh} />
      {isLast && (
        <Note>
          The only owner who has signed in: an organisation keeps one, so they can neither be removed nor get
          another role until somebody else is an owner.
        </Note>
      )}
      {member.is_managed && (
        <Note>The organisation's directory decides about this member: change or remove them there.</Note>
      )}
      <div class="columns">
        <MemberFacts of={member} />
        <RolePanel key={member.role} of={member} isLastOwner={isLast} onChange={list.refresh} />
      </div>
      {!isWaiting(member) && mayCall("listKeys") && <Keys of={member} />}
    </Page>
  );
}

interface OfMember {
  readonly of: Member;
}

function MemberFacts({ of: member }: OfMember) {
  const { status, invitation, since } = member;
  return (
    <Panel title="Facts">
      <Facts
        rows={[
          ["E-mail", <span class="break">{member.email || "not told by the identity provider"}</span>],
          ["State", <Badge tone={STATUS_TONES[status]}>{STATUS_WORDS[status]}</Badge>],
          [isWaiting(member) ? "Invited" : "Joined", <When at={since} />],
          ["Invited by", invitation && (invitation.invited_by || "a key")],
          [
            "Can accept until",
            invitation && <Until at={invitation.expires_at} isOver={status === "lapsed"} />,
          ],
          ["Id", <Copy text={member.user_id} what="id of the person" />],
        ]}
      />
    </Panel>
  );
}

function Until({ at, isOver }: { readonly at: string | null; readonly isOver: boolean }) {
  if (isOver) return <>It cannot be accepted any more. Send it again, or take it back.</>;
  return at === null ? <>It has no end.</> : <When at={at} />;
}

interface RolePanelProps extends OfMember {
  readonly isLastOwner: boolean;
  readonly onChange: () => void;
}

function RolePanel({ of: member, isLastOwner: isLast, onChange }: RolePanelProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange =
    mayCall("updateMember") && mayGive(ownRole.value, member.role) && !isLast && !member.is_managed;
  return (
    <Panel
      title="Role"
      actions={mayChange && !isOpen && <Button onClick={() => setOpen(true)}>Change role</Button>}
    >
      {isOpen && mayChange ? (
        <RoleForm of={member} onChange={onChange} onClose={() => setOpen(false)} />
      ) : (
        <p>
          <strong>{member.role}</strong> <span class="quiet">{roleSentence(member.role)}</span>
        </p>
      )}
    </Panel>
  );
}

interface RoleFormProps extends OfMember {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function RoleForm({ of: member, onChange, onClose }: RoleFormProps) {
  const [role, setRole] = useState(member.role);
  const act = useAct();
  const isOwn = member.user_id === me.value?.user.id;
  const save = () =>
    act.run(async () => {
      await call("updateMember", {
        params: { org: org.value?.id ?? "", user: member.user_id },
        body: { role },
      });
      if (isOwn) await refreshSession();
      onChange();
      onClose();
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (role !== member.role) save();
      }}
    >
      <RoleChoice value={role} onValue={setRole} own={ownRole.value} />
      {isOwn && role !== member.role && (
        <Note tone="warn">This is your own role: you may not be able to take it back yourself.</Note>
      )}
      <FaultNote fault={act.fault} />
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={role === member.role}>
          Save role
        </Button>
        <Button onClick={onClose}>Discard</Button>
        <span class="quiet small">It holds from their next request on.</span>
      </div>
    </form>
  );
}

function Keys({ of: { user_id: id } }: OfMember) {
  const list = usePages("listKeys", { query: { person_id: id, limit: KEYS } });
  return (
    <Panel title="Keys that they made">
      <ListTable
        label="Keys of the member"
        list={list}
        keyOf={(key) => key.id}
        columns={KEY_COLUMNS}
        empty={<p>They have made none.</p>}
      />
    </Panel>
  );
}
