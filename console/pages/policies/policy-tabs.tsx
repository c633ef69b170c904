/** The parts of one policy, as tabs with an address each. Whatever is about one policy has them below its title. */
import type { Name } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { PathTabs } from "../../parts/tabs.tsx";
import { policyPath } from "./policy-data.ts";

interface PolicyTab {
  /** Behind the policy's name in the address; the first is at the name itself, too. */
  readonly path: string;
  readonly text: string;
  /** What it cannot do without, beside what the page needs. */
  readonly needs?: Name;
}

/** In their order. Those that ask and draw by themselves have an entry of `OWN_PAGES` in policies.tsx, too. */
const TABS: readonly PolicyTab[] = [
  { path: "versions", text: "Versions" },
  { path: "edit", text: "Edit", needs: "createPolicyVersion" },
  { path: "dry-run", text: "One call", needs: "dryRunPolicy" },
  { path: "replay", text: "Past calls", needs: "dryRunPolicy" },
  { path: "reports", text: "Trials", needs: "listCanaries" },
];

/** @param current the path of the part that is shown */
export function PolicyTabs({ name, current }: { readonly name: string; readonly current: string }) {
  const to = (path: string) => (path === TABS[0]?.path ? policyPath(name) : ["policies", name, path]);
  return (
    <PathTabs
      label={`Parts of ${name}`}
      tabs={TABS.filter(({ needs }) => needs === undefined || mayCall(needs)).map(
        ({ path, text }) => [to(path), text] as const,
      )}
      current={to(current)}
    />
  );
}
