/** What can be done about a member: hand the org over, send an invitation again, take it back, remove them, or leave oneself. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { mayCall, me, org, role as ownRole } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { HandOver } from "./hand-over.tsx";
import { isWaiting, type Member } from "./member-words.ts";
import { RemoveMember } from "./remove-member.tsx";
import { mayGive } from "./role-words.ts";
import { SentAgain } from "./sent-again.tsx";

interface ActsProps {
  readonly of: Member;
  readonly isLastOwner: boolean;
  readonly onChange: () => void;
}

export function MemberActs({ of: member, isLastOwner, onChange }: ActsProps) {
  const [asked, setAsked] = useState<"" | "remove" | "hand over">("");
  const [isSent, setSent] = useState(false);
  const act = useAct();
  const close = () => setAsked("");
  const isSelf = member.user_id === me.value?.user.id;
  const mayRemove =
    !isLastOwner &&
    !member.is_managed &&
    (isSelf || (mayCall("addMember") && mayGive(ownRole.value, member.role)));
  const isInvited = member.invitation !== undefined;
  const again = () =>
    act.run(async () => {
      setSent(false);
      await call("inviteAgain", { params: { org: org.value?.id ?? "", user: member.user_id } });
      setSent(true);
      onChange();
    });
  return (
    <>
      <FaultNote fault={act.fault} />
      {isSent && <SentAgain to={member.email} />}
      {!isSelf && member.status === "active" && mayCall("transferOrg") && (
        <Button onClick={() => setAsked("hand over")}>Hand over the organisation</Button>
      )}
      {isInvited && mayCall("inviteAgain") && mayGive(ownRole.value, member.role) && (
        <Button isBusy={act.isBusy} onClick={again}>
          Send again
        </Button>
      )}
      {mayRemove && (
        <Button kind="danger" onClick={() => setAsked("remove")}>
          {isSelf ? "Leave organisation" : isWaiting(member) ? "Take back invitation" : "Remove member"}
        </Button>
      )}
      {asked === "remove" && <RemoveMember of={member} onClose={close} />}
      {asked === "hand over" && <HandOver to={member} onClose={close} onDone={onChange} />}
    </>
  );
}
