/** Asks before a version is put in force: where, and which one it replaces there. A roll-back is the same with the version before. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type ApiError, call } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import {
  activationWords,
  type Scopes,
  type Step,
  scopesOf,
  scopeWords,
  WHOLE_ORG,
} from "./activation-words.ts";
import { ProblemList, problemsOf } from "./editor/problems.tsx";
import type { Known, PolicyData } from "./policy-data.ts";

interface ActivateProps {
  readonly policy: PolicyData;
  readonly version: number;
  /** Where it is to be in force, to begin with. */
  readonly scope: string;
  /** The version that is rolled back; undefined: it is no roll-back, and the person chooses where. */
  readonly from?: number;
  readonly onClose: () => void;
}

export function Activate({ policy, version, scope: begun, from, onClose }: ActivateProps) {
  const [scope, setScope] = useState(begun);
  const list = useAnswer("listPolicies", {});
  const act = useAct();
  const scopes = list.value.value && scopesOf(list.value.value.data);
  const words = scopes && activationWords({ policy: policy.name, version }, stepOf(policy, scopes, scope));
  const activate = () =>
    act.run(async () => {
      const where = scope === WHOLE_ORG ? {} : { scope: { project_id: scope } };
      await call("activatePolicy", { params: { name: policy.name }, body: { version, ...where } });
      policy.refresh();
      onClose();
    });
  return (
    <Dialog title={titleOf(policy, version, from)} onClose={onClose}>
      {from === undefined ? (
        <Choice label="For" value={scope} onValue={setScope} options={scopeOptions(policy)} />
      ) : (
        <p>For {scopeWords(projectOf(policy, scope))}.</p>
      )}
      <FaultNote fault={list.fault.value} onRetry={list.refresh} />
      {scopes === undefined && list.fault.value === undefined && <Waiting />}
      {scopes !== undefined && (
        <div class="stack" role="status">
          {(words ?? ["It is in force there already."]).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          {words !== undefined && (
            <p class="quiet">
              Calls under way keep the version that they began with. It can be undone: every version can be
              activated again.
            </p>
          )}
        </div>
      )}
      <Refused fault={act.fault} name={policy.name} version={version} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Leave it as it is</Button>
        <Button kind="main" isBusy={act.isBusy} disabled={words === undefined} onClick={activate}>
          {from === undefined ? "Activate" : "Roll back to"} version {version}
        </Button>
      </div>
    </Dialog>
  );
}

const titleOf = ({ name }: PolicyData, version: number, from: number | undefined): string =>
  from === undefined
    ? `Activate version ${version} of “${name}”?`
    : `Roll back “${name}” from version ${from} to ${version}?`;

const scopeOptions = ({ open }: Known) => [
  [WHOLE_ORG, "The whole organisation"] as const,
  ...open.map(({ id, name }) => [id, `Project ${name}`] as const),
];

const projectOf = (known: Known, scope: string): string | undefined =>
  scope === WHOLE_ORG ? undefined : known.projectName(scope);

/** What the words about a scope are made of. */
export const stepOf = (known: Known, scopes: Scopes, scope: string): Step => ({
  scopes,
  scope,
  project: projectOf(known, scope),
  others: [...scopes.keys()].filter((id) => id !== WHOLE_ORG).map((id) => known.projectName(id)),
});

interface RefusedProps {
  readonly fault: ApiError | undefined;
  readonly name: string;
  readonly version: number;
}

/** A version that an earlier release took may be valid no more: what is wrong with it, line by line, and the way on. */
function Refused({ fault, name, version }: RefusedProps) {
  const problems = problemsOf(fault);
  return (
    <>
      <FaultNote fault={fault} />
      {problems.length > 0 && (
        <>
          <ProblemList label="What is wrong with it" problems={problems} tone="bad" />
          {mayCall("createPolicyVersion") && (
            <Link to={["policies", name, "edit"]} filters={{ from: String(version) }}>
              Mend it as a new version
            </Link>
          )}
        </>
      )}
    </>
  );
}
