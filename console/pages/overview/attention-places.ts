/** Where a finding leads in the console. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Finding = Operations["getAttention"]["answer"]["data"][number];

export interface Place {
  readonly to: readonly string[];
  readonly filters?: Readonly<Record<string, string>>;
}

const MONEY: Partial<Record<Finding["kind"], readonly string[]>> = {
  credit_low: ["credits"],
  subscription_past_due: ["billing"],
  auto_topup_paused: ["billing", "auto"],
  auto_topup_failed: ["billing", "auto"],
};

/** Undefined where an org has no page for it: jobs and providers are the operator's. */
export function placeOf({ kind, subject, details = {} }: Finding): Place | undefined {
  const money = MONEY[kind];
  if (money !== undefined) return { to: money };
  switch (subject.type) {
    case "key":
      return { to: ["keys", subject.id] };
    case "policy":
      return { to: ["policies", subject.id, "reports"] };
    case "webhook":
      return { to: ["webhooks", subject.id] };
    case "project":
      return { to: ["overview"], filters: { project_id: subject.id, range: "30d" } };
    case "org":
      return { to: ["overview"], filters: { range: "30d", by: "key" } };
    case "endpoint":
      return typeof details.model === "string" ? { to: ["models", ...details.model.split("/")] } : undefined;
    default:
      return undefined;
  }
}
