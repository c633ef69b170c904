/** One version: its document, or what differs from another version, which the address chooses. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { filter, go, pageAddress, setFilters } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Choice } from "../../parts/field.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { Activate } from "./activate.tsx";
import { WHOLE_ORG } from "./activation-words.ts";
import { CodeLines, Differences } from "./code-lines.tsx";
import { type PlacedProblem, ProblemList } from "./editor/problems.tsx";
import type { PolicyData, Version } from "./policy-data.ts";
import { STATUS_TONES } from "./versions.tsx";
import { Who } from "./who.tsx";

interface VersionPageProps {
  readonly policy: PolicyData;
  /** As the address has it. */
  readonly number: string;
}

export function VersionPage({ policy, number }: VersionPageProps) {
  const version = policy.versions.find((each) => String(each.version) === number);
  // One that was just saved is in the next answer.
  if (version === undefined && policy.isBusy) return <Waiting />;
  if (version === undefined) return <Note>The policy has no such version.</Note>;
  return (
    <>
      <AboutVersion policy={policy} version={version} />
      <Text policy={policy} version={version} />
    </>
  );
}

interface OfVersion {
  readonly policy: PolicyData;
  readonly version: Version;
}

function AboutVersion({ policy, version }: OfVersion) {
  const [isAsked, setAsked] = useState(false);
  const { name } = policy;
  const edit = () =>
    go(pageAddress(orgSlug.value, ["policies", name, "edit"], { from: String(version.version) }));
  return (
    <Panel
      title={`Version ${version.version}`}
      actions={
        <>
          {mayCall("createPolicyVersion") && <Button onClick={edit}>Edit as a new version</Button>}
          {mayCall("activatePolicy") && (
            <Button kind="main" onClick={() => setAsked(true)}>
              Activate
            </Button>
          )}
        </>
      }
    >
      <Facts
        rows={[
          ["Status", <Badge tone={STATUS_TONES[version.status]}>{version.status}</Badge>],
          [
            "In force for",
            version.in_force.length === 0 ? undefined : <Scopes policy={policy} version={version} />,
          ],
          ["Written", <When at={version.created_at} />],
          ["By", <Who id={version.created_by} known={policy} />],
        ]}
      />
      {isAsked && (
        <Activate
          policy={policy}
          version={version.version}
          scope={WHOLE_ORG}
          onClose={() => setAsked(false)}
        />
      )}
    </Panel>
  );
}

const Scopes = ({ policy, version }: OfVersion) => (
  <ul class="policy-scopes">
    {version.in_force.map(({ project_id: id, activated_at: at }) => (
      <li key={id ?? ""}>
        {id === undefined ? "the whole organisation" : policy.projectName(id)}{" "}
        <span class="small quiet">
          since <When at={at} />
        </span>
      </li>
    ))}
  </ul>
);

const compare = filter("compare");

function Text({ policy, version }: OfVersion) {
  const { name, versions } = policy;
  const other = versions.find((each) => String(each.version) === compare.value)?.version;
  const shown = useAnswer("getPolicyVersion", { params: { name, version: version.version } });
  const before = useAnswer(
    "getPolicyVersion",
    other === undefined ? undefined : { params: { name, version: other } },
  );
  const text = shown.value.value?.yaml;
  // What the one before was compared with stays until the next is there.
  const old = before.value.value?.version === other ? before.value.value?.yaml : undefined;
  return (
    <Panel
      title={other === undefined ? "Document" : `From version ${other} to version ${version.version}`}
      actions={
        <>
          {versions.length > 1 && <Compared version={version.version} versions={versions} />}
          {text !== undefined && <CopyButton text={text} what="document" />}
        </>
      }
    >
      <FaultNote fault={shown.fault.value} onRetry={shown.refresh} />
      <FaultNote fault={before.fault.value} onRetry={before.refresh} />
      {shown.fault.value === undefined && before.fault.value === undefined && (
        <>
          {(text === undefined || (other !== undefined && old === undefined)) && <Waiting />}
          {text !== undefined && other === undefined && <Checked text={text} />}
          {text !== undefined && old !== undefined && <Differences before={old} after={text} />}
        </>
      )}
    </Panel>
  );
}

interface ComparedProps {
  readonly version: number;
  readonly versions: readonly Version[];
}

const Compared = ({ version, versions }: ComparedProps) => (
  <Choice
    label="Compared with"
    value={compare.value}
    onValue={(value) => setFilters({ compare: value }, "push")}
    options={[
      ["", "No other version"],
      ...versions
        .filter((each) => each.version !== version)
        .map((each) => [String(each.version), `Version ${each.version}, ${each.status}`] as const),
    ]}
  />
);

/** The document with what the check says of it now: a version outlives catalogs and releases. */
function Checked({ text }: { readonly text: string }) {
  const check = useAnswer("validatePolicy", { body: { yaml: text } });
  const verdict = check.value.value;
  const [chosen, setChosen] = useState(0);
  const choose = ({ line }: PlacedProblem) => {
    setChosen(line);
    document.getElementById(`line-${line}`)?.scrollIntoView({ block: "center" });
  };
  const { problems = [], warnings = [] } = verdict ?? {};
  return (
    <>
      {problems.length > 0 && (
        <ProblemList
          label="It is not valid in this release"
          problems={problems}
          tone="bad"
          onChoose={choose}
        />
      )}
      {warnings.length > 0 && (
        <ProblemList label="What to look at" problems={warnings} tone="warn" onChoose={choose} />
      )}
      <CodeLines text={text} problems={problems} warnings={warnings} chosen={chosen} />
    </>
  );
}
