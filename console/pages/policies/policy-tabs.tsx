/** The parts of one policy's page, as tabs with an address each. */
import type { Name } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { PathTabs } from "../../parts/tabs.tsx";
import { policyPath } from "./policy-data.ts";

export interface PolicyTab {
  /** Behind the policy's name in the address. */
  readonly path: string;
  readonly text: string;
  /** What it cannot do without, beside what the page needs. */
  readonly needs?: Name;
}

interface PolicyTabsProps {
  readonly name: string;
  readonly tabs: readonly PolicyTab[];
  readonly current: string;
}

/** The first is at the policy's own address. */
export function PolicyTabs({ name, tabs, current }: PolicyTabsProps) {
  const [first] = tabs;
  const to = (path: string) => (path === first?.path ? policyPath(name) : ["policies", name, path]);
  return (
    <PathTabs
      label={`Parts of ${name}`}
      tabs={tabs
        .filter(({ needs }) => needs === undefined || mayCall(needs))
        .map(({ path, text }) => [to(path), text] as const)}
      current={to(current)}
    />
  );
}
