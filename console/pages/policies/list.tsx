/** The org's policies: which version is in force where, since when. They are at most some hundred, and come in one answer. */
import type { ComponentChildren } from "preact";
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { filter, go, pageAddress, setFilters } from "../../app/router.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { scopesOf, WHOLE_ORG } from "./activation-words.ts";
import { type Known, policyPath, useKnown } from "./policy-data.ts";
import { Who } from "./who.tsx";

type Listed = Answer<"listPolicies">["data"][number];

/** With fewer one sees all at once. */
const SEARCHED_FROM = 10;

const q = filter("q");

export function PolicyList() {
  const list = useAnswer("listPolicies", {});
  const known = useKnown();
  const all = list.value.value?.data;
  const rows = all?.filter(({ name }) => name.includes(q.value.toLowerCase())) ?? [];
  return (
    <Page
      title="Policies"
      about="A policy says which endpoints a call may use, and in which order. A project's goes before the organisation's."
      actions={mayCall("createPolicy") && <NewButton />}
    >
      <FaultNote fault={list.fault.value} onRetry={list.refresh} />
      {all !== undefined && all.length > 0 && <Now policies={all} />}
      <Panel title="All policies" actions={(all?.length ?? 0) >= SEARCHED_FROM && <Search />}>
        {all === undefined && list.fault.value === undefined && <Waiting />}
        {rows.length > 0 && (
          <Table label="Policies" columns={columnsOf(known)} rows={rows} keyOf={({ name }) => name} />
        )}
        {all !== undefined && rows.length === 0 && (
          <div class="empty">{all.length === 0 ? <NoPolicies /> : <NothingFound />}</div>
        )}
      </Panel>
    </Page>
  );
}

const NewButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["policies", "new"]))}>
    New policy
  </Button>
);

function Search() {
  const [text, setText] = useFilterText("q");
  return (
    <search class="filters" aria-label="Policies">
      <TextField label="Name" type="search" value={text} onValue={setText} maxLength={64} />
    </search>
  );
}

/** What calls meet now. */
function Now({ policies }: { readonly policies: readonly Listed[] }) {
  const orgs = scopesOf(policies).get(WHOLE_ORG);
  return (
    <p>
      {orgs === undefined ? (
        "No policy is in force for the whole organisation: endpoints are ordered by price and health."
      ) : (
        <>
          For the whole organisation <VersionLink name={orgs.policy} version={orgs.version} /> of “
          {orgs.policy}” is in force.
        </>
      )}
    </p>
  );
}

const VersionLink = ({ name, version }: { readonly name: string; readonly version: number }) => (
  <Link to={["policies", name, "versions", String(version)]} class="nowrap">
    version {version}
  </Link>
);

const NoPolicies = () => (
  <>
    <p>There is no policy yet: endpoints are ordered by price and health.</p>
    {mayCall("createPolicy") ? <NewButton /> : <p>A member or an admin can write one.</p>}
  </>
);

const NothingFound = () => (
  <>
    <p>No policy has such a name.</p>
    <Button onClick={() => setFilters({ q: undefined })}>Show all policies</Button>
  </>
);

const columnsOf = (known: Known): readonly Column<Listed>[] => [
  {
    head: "Name",
    cell: ({ name }) => (
      <Link to={policyPath(name)} class="break">
        {name}
      </Link>
    ),
  },
  {
    head: "In force",
    cell: (policy) =>
      policy.in_force.length === 0 ? <Badge>nowhere</Badge> : <InForceList of={policy} known={known} />,
  },
  {
    head: "Newest",
    cell: ({ name, newest }) => <VersionLink name={name} version={newest} />,
  },
];

function InForceList({ of, known }: { readonly of: Listed; readonly known: Known }): ComponentChildren {
  return (
    <ul class="policy-scopes">
      {of.in_force.map(({ version, project_id: id, activated_at: at, activated_by: by }) => (
        <li key={id ?? ""}>
          <Badge tone="good">version {version}</Badge>
          <span>{id === undefined ? "whole organisation" : known.projectName(id)}</span>
          <span class="small quiet">
            since <When at={at} />, by <Who id={by} known={known} />
          </span>
        </li>
      ))}
    </ul>
  );
}
