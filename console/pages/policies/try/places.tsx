/** Ways between the pages of one policy that say what it would do and what it does. */
import { Link } from "../../../parts/link.tsx";
import { PathTabs } from "../../../parts/tabs.tsx";

/** What a page of one policy is told by its address. */
export interface PolicyProps {
  readonly name: string;
  /** Undefined: the one in force, else the newest. */
  readonly version: number | undefined;
}

export const PolicyLink = ({ name }: { readonly name: string }) => (
  <Link to={["policies", name]} class="button">
    Versions
  </Link>
);

/** @param here which of them is shown */
export const TrialTabs = ({ name, here }: { readonly name: string; readonly here: string }) => (
  <PathTabs
    label="What the policy does"
    current={["policies", name, here]}
    tabs={[
      [["policies", name, "dry-run"], "One call"],
      [["policies", name, "replay"], "Past calls"],
      [["policies", name, "reports"], "Trials"],
    ]}
  />
);
