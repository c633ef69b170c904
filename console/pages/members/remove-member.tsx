/** Asks before somebody is removed, leaves, or loses an invitation: lists the keys that they made, and offers to revoke them. */
import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { mayCall, me, org, orgSlug } from "../../app/session.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Check } from "../../parts/field.tsx";
import { KeyNames, useWorkingKeys, workingOf } from "../keys/key-names.tsx";
import { isWaiting, type Member, nameOf } from "./member-words.ts";

interface RemoveProps {
  readonly of: Member;
  readonly onClose: () => void;
}

export const RemoveMember = ({ of: member, onClose }: RemoveProps) =>
  isWaiting(member) ? (
    <TakeBack of={member} onClose={onClose} />
  ) : (
    <RemoveWithKeys
      userId={member.user_id}
      who={member.user_id === me.value?.user.id ? undefined : nameOf(member)}
      onClose={onClose}
    />
  );

const removed = (user: string, revokesKeys: boolean) =>
  call("removeMember", {
    params: { org: org.value?.id ?? "", user },
    query: revokesKeys ? { revoke_keys: "true" } : {},
  });

const TakeBack = ({ of: member, onClose }: RemoveProps) => (
  <Confirm
    title={`Take back the invitation of ${nameOf(member)}?`}
    act="Take back invitation"
    onClose={onClose}
    onAct={async () => {
      await removed(member.user_id, false);
      go(pageAddress(orgSlug.value, ["members"]), "replace");
    }}
  >
    The link of the mail opens nothing any more. They can be invited again.
  </Confirm>
);

interface WithKeysProps {
  readonly userId: string;
  /** Undefined: the reader, who leaves. */
  readonly who: string | undefined;
  readonly onClose: () => void;
}

/** Also where the reader leaves by themselves. */
export function RemoveWithKeys({ userId, who, onClose }: WithKeysProps) {
  const [revokes, setRevokes] = useState(false);
  const mayKeys = mayCall("listKeys");
  const keys = useWorkingKeys(mayKeys ? { person_id: userId } : undefined);
  const count = workingOf(keys)?.length ?? 0;
  const isSelf = who === undefined;
  const name = org.value?.name ?? "the organisation";
  return (
    <Confirm
      title={isSelf ? `Leave ${name}?` : `Remove ${who}?`}
      act={`${isSelf ? "Leave organisation" : "Remove member"}${revokes ? " and revoke keys" : ""}`}
      keep={isSelf ? "Stay" : "Keep them"}
      onClose={onClose}
      onAct={async () => {
        await removed(userId, revokes);
        // Who has left is nowhere in this org: the frame asks anew who they are.
        if (isSelf) location.assign("/console");
        else go(pageAddress(orgSlug.value, ["members"]), "replace");
      }}
    >
      <div class="stack">
        <p>
          {isSelf
            ? "You open nothing of it any more, from your next click on. Somebody must invite you again to undo this."
            : `From their next request on nothing of ${name} is open to them. Invite them again to undo this.`}
        </p>
        {mayKeys && (
          <>
            <KeyNames
              of={keys}
              none={isSelf ? "You have made no key that works." : "They have made no key that works."}
              some={(number) =>
                `${number === 1 ? "One key" : `${number} keys`} that ${isSelf ? "you" : "they"} made, or that such a key made, ${number === 1 ? "works" : "work"}. Programs go on calling with ${number === 1 ? "it, unless it is" : "them, unless they are"} revoked:`
              }
            />
            {count > 0 && (
              <Check
                label={
                  count === 1
                    ? "Revoke it, which cannot be undone"
                    : "Revoke all of them, which cannot be undone"
                }
                value={revokes}
                onValue={setRevokes}
              />
            )}
          </>
        )}
      </div>
    </Confirm>
  );
}
