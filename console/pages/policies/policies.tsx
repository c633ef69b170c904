/** The page "Policies": the list, a new one, and one policy with its parts, each at an address of its own. */
import type { ComponentType } from "preact";
import { filter, segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, NotOpen, Waiting } from "../../parts/note.tsx";
import { Page } from "../../parts/panel.tsx";
import { EditPolicy, NewPolicy } from "./editor/editor-page.tsx";
import { PolicyList } from "./list.tsx";
import { type PolicyData, usePolicy } from "./policy-data.ts";
import { PolicyTabs } from "./policy-tabs.tsx";
import { Reports } from "./reports/reports.tsx";
import type { PolicyProps } from "./try/policy-props.ts";
import { DryRun, Replay } from "./try/try.tsx";
import { VersionPage } from "./version-page.tsx";
import { Versions } from "./versions.tsx";

/** Parts that ask and draw a whole page by themselves, by what follows the policy's name in the address; each has a row in policy-tabs.tsx. */
const OWN_PAGES: Readonly<Record<string, ComponentType<PolicyProps>>> = {
  "dry-run": DryRun,
  replay: Replay,
  reports: Reports,
};

const version = filter("version");

/** A number from 1; undefined: none is chosen. */
function chosenVersion(): number | undefined {
  const number = Number(version.value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

export function Policies() {
  const [, , name = "", path = ""] = segments.value;
  if (name === "") return <PolicyList />;
  if (name === "new" && path === "")
    return mayCall("createPolicy") ? (
      <NewPolicy />
    ) : (
      <Page title="New policy" about={<Link to={["policies"]}>All policies</Link>}>
        <ForWriters />
      </Page>
    );
  const Own = Object.hasOwn(OWN_PAGES, path) ? OWN_PAGES[path] : undefined;
  return Own === undefined ? (
    <Policy key={name} name={name} />
  ) : (
    <Own key={name} name={name} version={chosenVersion()} />
  );
}

const ForWriters = () => <NotOpen>It reads policies and writes none. An admin can change your role.</NotOpen>;

/** Versions, and the editor: both are about the same list of versions, which stays while one goes from one to the other. */
function Policy({ name }: { readonly name: string }) {
  const { data, fault, refresh } = usePolicy(name);
  const [, , , path = "versions", rest = ""] = segments.value;
  return (
    <Page title={name} about={<Link to={["policies"]}>All policies</Link>}>
      <PolicyTabs name={name} current={path} />
      <FaultNote fault={fault} onRetry={refresh} />
      {data === undefined && fault === undefined && <Waiting />}
      {data !== undefined && <Part policy={data} path={path} rest={rest} />}
    </Page>
  );
}

interface PartProps {
  readonly policy: PolicyData;
  readonly path: string;
  /** What follows the part in the address. */
  readonly rest: string;
}

function Part({ policy, path, rest }: PartProps) {
  if (path === "versions")
    return rest === "" ? (
      <Versions policy={policy} />
    ) : (
      <VersionPage key={rest} policy={policy} number={rest} />
    );
  if (path !== "edit") return <Note>There is no such page. Choose one above.</Note>;
  return mayCall("createPolicyVersion") ? <EditPolicy policy={policy} /> : <ForWriters />;
}
