/** One policy: where it is in force, with what can be done there, and its versions. */
import { useState } from "preact/hooks";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, type Tone } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { Activate } from "./activate.tsx";
import { versionBefore, WHOLE_ORG } from "./activation-words.ts";
import { Deactivate } from "./deactivate.tsx";
import type { PolicyData, Version } from "./policy-data.ts";
import { Who } from "./who.tsx";

interface OfPolicy {
  readonly policy: PolicyData;
}

export const Versions = ({ policy }: OfPolicy) => (
  <>
    <InForce policy={policy} />
    <VersionList policy={policy} />
  </>
);

type Row = Version["in_force"][number];

const scopeOf = ({ project_id: id = WHOLE_ORG }: Row): string => id;

interface Asked {
  readonly act: "roll back" | "deactivate";
  readonly row: Row;
}

function InForce({ policy }: OfPolicy) {
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const close = () => setAsked(undefined);
  const rows = policy.versions
    .flatMap(({ in_force: active }) => active)
    .sort((a, b) => (scopeOf(a) < scopeOf(b) ? -1 : 1));
  const before = asked && versionBefore(policy.versions, asked.row.version);
  return (
    <Panel title="In force">
      {rows.length === 0 ? (
        <p class="quiet">
          Nowhere.{" "}
          {mayCall("activatePolicy") &&
            "Activate a version below, for the whole organisation or one project."}
        </p>
      ) : (
        <Table
          label="Where it is in force"
          columns={inForceColumns(policy, setAsked)}
          rows={rows}
          keyOf={scopeOf}
        />
      )}
      {asked?.act === "deactivate" && (
        <Deactivate policy={policy} scope={scopeOf(asked.row)} onClose={close} />
      )}
      {asked?.act === "roll back" && before !== undefined && (
        <Activate
          policy={policy}
          version={before}
          scope={scopeOf(asked.row)}
          from={asked.row.version}
          onClose={close}
        />
      )}
    </Panel>
  );
}

const inForceColumns = (policy: PolicyData, ask: (asked: Asked) => void): readonly Column<Row>[] => [
  {
    head: "For",
    cell: ({ project_id: id }) => (
      <span class="break">{id === undefined ? "Whole organisation" : policy.projectName(id)}</span>
    ),
  },
  { head: "Version", cell: ({ version }) => <VersionLink name={policy.name} version={version} /> },
  { head: "Since", cell: ({ activated_at: at }) => <When at={at} /> },
  { head: "By", cell: ({ activated_by: id }) => <Who id={id} known={policy} /> },
  ...(mayCall("activatePolicy")
    ? [{ head: "What can be done", cell: (row: Row) => <Acts policy={policy} row={row} ask={ask} /> }]
    : []),
];

interface ActsProps extends OfPolicy {
  readonly row: Row;
  readonly ask: (asked: Asked) => void;
}

function Acts({ policy, row, ask }: ActsProps) {
  const before = versionBefore(policy.versions, row.version);
  return (
    <span class="policy-acts">
      {before !== undefined && (
        <Button onClick={() => ask({ act: "roll back", row })}>Roll back to version {before}</Button>
      )}
      {mayCall("deactivatePolicy") && (
        <Button kind="danger" onClick={() => ask({ act: "deactivate", row })}>
          Deactivate
        </Button>
      )}
    </span>
  );
}

const VersionLink = ({ name, version }: { readonly name: string; readonly version: number }) => (
  <Link to={["policies", name, "versions", String(version)]} class="nowrap">
    Version {version}
  </Link>
);

/** Rows that are shown at once. */
const STEP = 50;

function VersionList({ policy }: OfPolicy) {
  const [shown, setShown] = useState(STEP);
  const [asked, setAsked] = useState<number | undefined>(undefined);
  const { versions } = policy;
  return (
    <Panel title="Versions">
      <Table
        label="Versions"
        columns={versionColumns(policy, setAsked)}
        rows={versions.slice(0, shown)}
        keyOf={({ version }) => String(version)}
      />
      {versions.length > shown && (
        <div class="row">
          <Button onClick={() => setShown(shown + STEP)}>Show more</Button>
          <span class="quiet small">
            {shown} of {versions.length} are shown.
          </span>
        </div>
      )}
      <p class="quiet small">Versions never change and are kept.</p>
      {asked !== undefined && (
        <Activate policy={policy} version={asked} scope={WHOLE_ORG} onClose={() => setAsked(undefined)} />
      )}
    </Panel>
  );
}

export const STATUS_TONES: Readonly<Record<Version["status"], Tone>> = {
  active: "good",
  draft: "accent",
  retired: "plain",
};

const versionColumns = (policy: PolicyData, ask: (version: number) => void): readonly Column<Version>[] => [
  { head: "Version", cell: ({ version }) => <VersionLink name={policy.name} version={version} /> },
  { head: "Status", cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
  { head: "Written", cell: ({ created_at: at }) => <When at={at} /> },
  { head: "By", cell: ({ created_by: id }) => <Who id={id} known={policy} /> },
  {
    head: "What changed",
    cell: ({ version }) =>
      version === 1 ? (
        <span class="quiet">the first</span>
      ) : (
        <Link
          to={["policies", policy.name, "versions", String(version)]}
          filters={{ compare: String(version - 1) }}
          class="nowrap"
        >
          Compare with {version - 1}
        </Link>
      ),
  },
  ...(mayCall("activatePolicy")
    ? [
        {
          head: "What can be done",
          cell: ({ version }: Version) => (
            <Button onClick={() => ask(version)}>Activate version {version}</Button>
          ),
        },
      ]
    : []),
];
