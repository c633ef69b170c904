/** A policy is written: a new one, or the next version of one. What is typed stays until it is saved or discarded. */
import { useEffect, useState } from "preact/hooks";
import { type Act, faultAt, useAct } from "../../../api/act.ts";
import { useAnswer } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { filter, go, pageAddress } from "../../../app/router.ts";
import { me, org, orgSlug } from "../../../app/session.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice, TextField } from "../../../parts/field.tsx";
import { Link } from "../../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type PolicyData, useKnown } from "../policy-data.ts";
import { CheckedField } from "./checked-field.tsx";
import { type Draft, draftKey, draftOf, forgetDraft, keepDraft } from "./drafts.ts";
import { EXAMPLES } from "./examples.ts";
import { problemsOf } from "./problems.tsx";

/** A draft that is kept with each change. @param begun what it is without one */
function useDraft(policy: string, begun: Draft) {
  const key = draftKey(org.value?.id ?? "", me.value?.user.id ?? "", policy);
  const [draft, setDraft] = useState(() => draftOf(sessionStorage, key) ?? begun);
  const isKept = draft.yaml !== begun.yaml || draft.name !== begun.name || draft.from !== begun.from;
  useEffect(() => {
    if (isKept) keepDraft(sessionStorage, key, draft);
    else forgetDraft(sessionStorage, key);
  }, [draft, isKept]);
  return {
    draft,
    set: (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes })),
    /** It was saved, or is not wanted any more. */
    forget: () => forgetDraft(sessionStorage, key),
    discard: () => setDraft(begun),
    isKept,
  };
}

const leadTo = (name: string, version: number) =>
  go(pageAddress(orgSlug.value, ["policies", name, "versions", String(version)]));

const [FIRST] = EXAMPLES;
const NEW: Draft = { from: 0, name: "", yaml: FIRST?.yaml ?? "" };

export function NewPolicy() {
  const known = useKnown();
  const { draft, set, forget, discard, isKept } = useDraft("", NEW);
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const change = (changes: Partial<Draft>) => {
    set(changes);
    act.forget();
  };
  const fault = nameFault(draft.name);
  const save = () => {
    setTried(true);
    if (fault !== undefined) return;
    act.run(async () => {
      const { name, version } = await call("createPolicy", { body: { name: draft.name, yaml: draft.yaml } });
      forget();
      leadTo(name, version);
    });
  };
  return (
    <Page title="New policy" about={<Link to={["policies"]}>All policies</Link>}>
      <Panel title="The policy">
        <div class="columns">
          <TextField
            label="Name"
            value={draft.name}
            onValue={(name) => change({ name })}
            hint="Lower-case letters, digits, - and _. It cannot be changed later."
            fault={isTried ? (fault ?? faultAt(act.fault, "/name")) : undefined}
            maxLength={64}
          />
          <Choice
            label="Begin with"
            value={EXAMPLES.find(({ yaml }) => yaml === draft.yaml)?.title ?? ""}
            onValue={(title) =>
              change({ yaml: EXAMPLES.find((each) => each.title === title)?.yaml ?? draft.yaml })
            }
            options={exampleOptions(draft.yaml)}
          />
        </div>
        <CheckedField
          label="Policy document"
          value={draft.yaml}
          onValue={(yaml) => change({ yaml })}
          refused={problemsOf(act.fault)}
          known={known}
        />
        <SaveRow
          act={act}
          save={save}
          text="Save as version 1"
          canSave
          discard={isKept ? discard : undefined}
        />
      </Panel>
    </Page>
  );
}

/** What was typed is no example, and choosing one replaces it. */
const exampleOptions = (yaml: string) => [
  ...(EXAMPLES.some((each) => each.yaml === yaml) ? [] : [["", "What is typed below"] as const]),
  ...EXAMPLES.map(({ title }) => [title, title] as const),
];

function nameFault(name: string): string | undefined {
  if (name === "") return "Give the policy a name.";
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)
    ? undefined
    : "Lower-case letters, digits, - and _, and a letter or a digit first.";
}

const from = filter("from");

/** The next version of a policy begins with its newest, or with the one that the address chooses. */
export function EditPolicy({ policy }: { readonly policy: PolicyData }) {
  const { name, versions } = policy;
  const chosen = versions.find(({ version }) => String(version) === from.value) ?? versions[0];
  const version = chosen?.version ?? 1;
  const shown = useAnswer("getPolicyVersion", { params: { name, version } });
  const text = shown.value.value?.version === version ? shown.value.value.yaml : undefined;
  return (
    <Panel title="The next version">
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      {text === undefined && shown.fault.value === undefined && <Waiting />}
      {text !== undefined && <NextVersion key={version} policy={policy} version={version} text={text} />}
    </Panel>
  );
}

interface NextVersionProps {
  readonly policy: PolicyData;
  /** The version that it begins with, and its document. */
  readonly version: number;
  readonly text: string;
}

function NextVersion({ policy, version, text }: NextVersionProps) {
  const { name, versions } = policy;
  const { draft, set, forget, discard, isKept } = useDraft(name, { from: version, name: "", yaml: text });
  const act = useAct();
  const next = (versions[0]?.version ?? 0) + 1;
  const save = () =>
    act.run(async () => {
      const made = await call("createPolicyVersion", { params: { name }, body: { yaml: draft.yaml } });
      forget();
      policy.refresh();
      leadTo(name, made.version);
    });
  return (
    <>
      {draft.from !== version ? (
        <Note tone="warn">
          These are your unsaved changes of version {draft.from}. Discard them to begin with version {version}
          .
        </Note>
      ) : (
        <p class="small quiet">It begins with version {version}, which stays as it is.</p>
      )}
      <CheckedField
        label="Policy document"
        value={draft.yaml}
        onValue={(yaml) => {
          set({ yaml });
          act.forget();
        }}
        refused={problemsOf(act.fault)}
        known={policy}
      />
      <SaveRow
        act={act}
        save={save}
        text={`Save as version ${next}`}
        canSave={draft.yaml !== text}
        discard={isKept ? discard : undefined}
      />
    </>
  );
}

interface SaveRowProps {
  readonly act: Act;
  readonly save: () => void;
  readonly text: string;
  readonly canSave: boolean;
  /** Undefined: nothing was changed. */
  readonly discard: (() => void) | undefined;
}

/** What a refusal says of a line is shown there. */
function SaveRow({ act, save, text, canSave, discard }: SaveRowProps) {
  return (
    <>
      {act.fault?.param !== "/name" && <FaultNote fault={act.fault} />}
      <div class="row">
        <Button kind="main" isBusy={act.isBusy} disabled={!canSave} onClick={save}>
          {text}
        </Button>
        {discard !== undefined && (
          <Button
            onClick={() => {
              act.forget();
              discard();
            }}
          >
            Discard changes
          </Button>
        )}
        <span class="small quiet">A saved version is a draft: no call follows it until it is activated.</span>
      </div>
    </>
  );
}
