/** Asks before a policy is taken out of force, and says what calls meet then. */
import { useAnswer } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { stepOf } from "./activate.tsx";
import { deactivationWords, scopesOf, scopeWords, WHOLE_ORG } from "./activation-words.ts";
import type { PolicyData } from "./policy-data.ts";

interface DeactivateProps {
  readonly policy: PolicyData;
  readonly scope: string;
  readonly onClose: () => void;
}

export function Deactivate({ policy, scope, onClose }: DeactivateProps) {
  const list = useAnswer("listPolicies", {});
  const all = list.value.value?.data;
  const step = stepOf(policy, scopesOf(all ?? []), scope);
  const { name } = policy;
  return (
    <Confirm
      title={`Deactivate “${name}” for ${scopeWords(step.project)}?`}
      act="Deactivate policy"
      onClose={onClose}
      onAct={async () => {
        const body = scope === WHOLE_ORG ? {} : { scope: { project_id: scope } };
        await call("deactivatePolicy", { params: { name }, body });
        policy.refresh();
      }}
    >
      <FaultNote fault={list.fault.value} onRetry={list.refresh} />
      {all === undefined && list.fault.value === undefined && <Waiting />}
      <div class="stack">
        {all !== undefined &&
          deactivationWords(name, step).map((sentence) => <p key={sentence}>{sentence}</p>)}
        <p class="quiet">Its versions stay, and each can be activated again.</p>
      </div>
    </Confirm>
  );
}
