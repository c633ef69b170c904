/** The page "Settings": what holds for the whole org, each part at an address of its own; what the role does not open has no tab. */
import type { ComponentChildren } from "preact";
import type { Name } from "../../api/call.ts";
import { segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Note, NotOpen } from "../../parts/note.tsx";
import { Page } from "../../parts/panel.tsx";
import { PathTabs } from "../../parts/tabs.tsx";
import { Analysts } from "./analysts.tsx";
import { Closing } from "./closing.tsx";
import { DataPolicy } from "./data-policy.tsx";
import { Directory } from "./directory.tsx";
import { Exports } from "./exports.tsx";
import { General } from "./general.tsx";
import { Security } from "./security.tsx";
import { ShownOnceDialog } from "./shown-once.tsx";

interface Part {
  readonly path: string;
  readonly text: string;
  /** Undefined: every member sees it. */
  readonly needs?: Name;
  readonly show: () => ComponentChildren;
}

const PARTS: readonly Part[] = [
  { path: "", text: "General", show: () => <General /> },
  { path: "data", text: "Data policy", show: () => <DataPolicy /> },
  { path: "security", text: "Security", show: () => <Security /> },
  { path: "directory", text: "Directory", needs: "getScimToken", show: () => <Directory /> },
  { path: "analysts", text: "Analysts' access", needs: "listAnalyticsUsers", show: () => <Analysts /> },
  { path: "export", text: "Export", needs: "listExports", show: () => <Exports /> },
  { path: "closing", text: "Close and erase", needs: "listExports", show: () => <Closing /> },
];

const toPart = (path: string): readonly string[] => (path === "" ? ["settings"] : ["settings", path]);
const isOpen = ({ needs }: Part): boolean => needs === undefined || mayCall(needs);

export function Settings() {
  const path = segments.value[2] ?? "";
  const part = PARTS.find((each) => each.path === path);
  return (
    <Page title="Settings">
      <PathTabs
        label="Parts of Settings"
        tabs={PARTS.filter(isOpen).map((each) => [toPart(each.path), each.text] as const)}
        current={toPart(path)}
      />
      {part === undefined && <Note>There is no such page. Choose one above.</Note>}
      {part !== undefined && (isOpen(part) ? part.show() : <NotOpen>{whoOpens(part)}</NotOpen>)}
      <ShownOnceDialog />
    </Page>
  );
}

const whoOpens = ({ needs }: Part): string =>
  needs === "listExports" ? "An owner sees it." : "Owners and admins see it.";
