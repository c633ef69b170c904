/** The page "Billing": the plan, automatic top-ups, documents, and who is billed, each at an address of its own. */
import type { ComponentChildren } from "preact";
import type { Name } from "../../api/call.ts";
import { segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Note, NotOpen } from "../../parts/note.tsx";
import { Page } from "../../parts/panel.tsx";
import { PathTabs } from "../../parts/tabs.tsx";
import { AutoTopups } from "./auto.tsx";
import { InvoicePage } from "./invoice-page.tsx";
import { Invoices } from "./invoices.tsx";
import { PlanTab } from "./plan.tsx";
import { PlanChange } from "./plan-change.tsx";
import { TaxDetails } from "./tax.tsx";

interface Part {
  readonly path: string;
  /** The tab's; undefined: something leads there. */
  readonly text?: string;
  readonly needs: Name;
  /** @param id what follows the part in the address; empty where nothing does */
  readonly show: (id: string) => ComponentChildren;
}

const PARTS: readonly Part[] = [
  { path: "", text: "Plan", needs: "getSubscription", show: () => <PlanTab /> },
  { path: "plans", needs: "changeSubscription", show: (id) => <PlanChange key={id} planId={id} /> },
  { path: "auto", text: "Automatic top-ups", needs: "getAutoTopup", show: () => <AutoTopups /> },
  {
    path: "invoices",
    text: "Invoices",
    needs: "listInvoices",
    show: (id) => (id === "" ? <Invoices /> : <InvoicePage key={id} id={id} />),
  },
  { path: "tax", text: "Tax details", needs: "getPricing", show: () => <TaxDetails /> },
];

const toPart = (path: string): readonly string[] => (path === "" ? ["billing"] : ["billing", path]);

export function Billing() {
  const [, , path = "", id = ""] = segments.value;
  const part = PARTS.find((each) => each.path === path);
  return (
    <Page title="Billing">
      <PathTabs
        label="Parts of Billing"
        tabs={PARTS.flatMap(({ path: each, text, needs }) =>
          text !== undefined && mayCall(needs) ? [[toPart(each), text] as const] : [],
        )}
        current={toPart(path === "plans" ? "" : path)}
      />
      {part === undefined && <Note>There is no such page. Choose one above.</Note>}
      {part !== undefined && (mayCall(part.needs) ? part.show(id) : <ForBilling />)}
    </Page>
  );
}

const ForBilling = () => <NotOpen>An owner, an admin and the billing role see it.</NotOpen>;
