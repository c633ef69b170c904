/** The page "Policies": the list, a new one, and one policy with its parts, each at an address of its own. */
import type { ComponentChildren } from "preact";
import { filter, segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, NotOpen, Waiting } from "../../parts/note.tsx";
import { Page } from "../../parts/panel.tsx";
import { EditPolicy, NewPolicy } from "./editor/editor-page.tsx";
import { PolicyList } from "./list.tsx";
import { type PolicyData, usePolicy } from "./policy-data.ts";
import { type PolicyTab, PolicyTabs } from "./policy-tabs.tsx";
import { VersionPage } from "./version-page.tsx";
import { Versions } from "./versions.tsx";

/** What a part of a policy's page gets. */
interface Shown {
  readonly policy: PolicyData;
  /** What follows the part in the address. */
  readonly rest: string;
  /** The version that the address chooses; undefined: as the part has it. */
  readonly version: number | undefined;
}

interface Part extends PolicyTab {
  readonly show: (shown: Shown) => ComponentChildren;
}

/** Each has a tab, in this order. */
const PARTS: readonly Part[] = [
  {
    path: "versions",
    text: "Versions",
    show: ({ policy, rest }) =>
      rest === "" ? <Versions policy={policy} /> : <VersionPage key={rest} policy={policy} number={rest} />,
  },
  {
    path: "edit",
    text: "Edit",
    needs: "createPolicyVersion",
    show: ({ policy }) => <EditPolicy key={policy.name} policy={policy} />,
  },
  // Parts that try a version and tell of it come here, a row each.
];

export function Policies() {
  const [, , name = "", path = ""] = segments.value;
  if (name === "") return <PolicyList />;
  if (name === "new" && path === "") return mayCall("createPolicy") ? <NewPolicy /> : <NotForReaders />;
  return <Policy key={name} name={name} />;
}

const NotForReaders = () => (
  <Page title="New policy" about={<Link to={["policies"]}>All policies</Link>}>
    <NotOpen>It reads policies and writes none. An admin can change your role.</NotOpen>
  </Page>
);

const version = filter("version");

function Policy({ name }: { readonly name: string }) {
  const { data, fault, refresh } = usePolicy(name);
  const [, , , path = "versions", rest = ""] = segments.value;
  const part = PARTS.find((each) => each.path === path);
  return (
    <Page title={name} about={<Link to={["policies"]}>All policies</Link>}>
      <PolicyTabs name={name} tabs={PARTS} current={path} />
      <FaultNote fault={fault} onRetry={refresh} />
      {data === undefined && fault === undefined && <Waiting />}
      {part === undefined && <Note>There is no such page. Choose one above.</Note>}
      {part?.needs !== undefined && !mayCall(part.needs) && (
        <NotOpen>It reads policies and writes none. An admin can change your role.</NotOpen>
      )}
      {data !== undefined &&
        part !== undefined &&
        (part.needs === undefined || mayCall(part.needs)) &&
        part.show({ policy: data, rest, version: Number(version.value) || undefined })}
    </Page>
  );
}
