/** The page "Payments to look at": what was not credited, calls that nobody was charged for, and invoices without their number. */
import type { ComponentChildren } from "preact";
import { segments } from "../../../app/router.ts";
import { Note } from "../../../parts/note.tsx";
import { Page } from "../../../parts/panel.tsx";
import { PathTabs } from "../../../parts/tabs.tsx";
import { Parked } from "./parked.tsx";
import { Uncharged } from "./uncharged.tsx";
import { Unregistered } from "./unregistered.tsx";

interface Part {
  readonly path: string;
  readonly text: string;
  readonly show: () => ComponentChildren;
}

const PARTS: readonly Part[] = [
  { path: "", text: "Not credited", show: () => <Parked /> },
  { path: "uncharged", text: "Uncharged calls", show: () => <Uncharged /> },
  { path: "invoices", text: "Invoices", show: () => <Unregistered /> },
];

const toPart = (path: string): readonly string[] => (path === "" ? ["payments"] : ["payments", path]);

export function Payments() {
  const [, , path = ""] = segments.value;
  const part = PARTS.find((each) => each.path === path);
  return (
    <Page title="Payments to look at">
      <PathTabs
        label="Parts of Payments to look at"
        tabs={PARTS.map((each) => [toPart(each.path), each.text] as const)}
        current={toPart(path)}
      />
      {part === undefined ? <Note>There is no such page. Choose one above.</Note> : part.show()}
    </Page>
  );
}
