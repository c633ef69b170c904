/** The page "Credits": balance, ledger, top-ups, each at an address of its own; what the role does not open has no tab. */
import type { ComponentChildren } from "preact";
import type { Name } from "../../api/call.ts";
import { segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Note, NotOpen } from "../../parts/note.tsx";
import { Page } from "../../parts/panel.tsx";
import { PathTabs } from "../../parts/tabs.tsx";
import { Balance } from "./balance.tsx";
import { Ledger } from "./ledger.tsx";
import { NewTopup } from "./new-topup.tsx";
import { TopupPage } from "./topup-page.tsx";
import { Topups } from "./topups.tsx";

interface Part {
  readonly path: string;
  readonly text: string;
  readonly needs: Name;
  /** @param id what follows the part in the address; empty where nothing does */
  readonly show: (id: string) => ComponentChildren;
}

const topupOf = (id: string) => {
  if (id === "new") return <NewTopup />;
  return id === "" ? <Topups /> : <TopupPage key={id} id={id} />;
};

const PARTS: readonly Part[] = [
  { path: "", text: "Balance", needs: "getCredits", show: () => <Balance /> },
  { path: "ledger", text: "Ledger", needs: "listLedger", show: () => <Ledger /> },
  { path: "topups", text: "Top-ups", needs: "listTopups", show: topupOf },
];

const toPart = (path: string): readonly string[] => (path === "" ? ["credits"] : ["credits", path]);

export function Credits() {
  const [, , path = "", id = ""] = segments.value;
  const part = PARTS.find((each) => each.path === path);
  return (
    <Page title="Credits">
      <PathTabs
        label="Parts of Credits"
        tabs={PARTS.filter(({ needs }) => mayCall(needs)).map(
          (each) => [toPart(each.path), each.text] as const,
        )}
        current={toPart(path)}
      />
      {part === undefined && <Note>There is no such page. Choose one above.</Note>}
      {part !== undefined && (mayCall(part.needs) ? part.show(id) : <ForBilling />)}
    </Page>
  );
}

const ForBilling = () => <NotOpen>An owner, an admin and the billing role see it.</NotOpen>;
