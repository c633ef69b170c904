/** Hands the organisation over: another member becomes its owner, and the reader an admin. The slug is typed, for only the new owner can undo it. */
import { call } from "../../api/call.ts";
import { org, refreshSession } from "../../app/session.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { type Member, nameOf } from "./member-words.ts";

interface HandOverProps {
  readonly to: Member;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function HandOver({ to, onClose, onDone }: HandOverProps) {
  const shown = org.value;
  if (shown === undefined) return null;
  return (
    <Confirm
      title={`Hand over ${shown.name} to ${nameOf(to)}?`}
      act="Hand over organisation"
      typed={shown.slug}
      onClose={onClose}
      onAct={async () => {
        await call("transferOrg", { params: { org: shown.id }, body: { user_id: to.user_id } });
        await refreshSession();
        onDone();
      }}
    >
      <div class="stack">
        <p class="break">
          {nameOf(to)} ({to.email}) becomes an owner, and you become an admin: you can no longer close, erase
          or hand over the organisation, nor change its owners. Other owners stay.
        </p>
        <p>Only an owner can undo this.</p>
      </div>
    </Confirm>
  );
}
