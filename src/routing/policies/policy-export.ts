/** All versions of an org's policies, with their texts. */
import { isoTime } from "../../base/clock.ts";
import type { PolicyTables } from "./policy-tables.ts";

export function* wholePolicies(tables: PolicyTables, orgId: string): Generator<object> {
  for (const { name, versions } of tables.policiesOf(orgId)) {
    for (const { version, createdAtMs } of tables.versionsOf(orgId, name, versions, versions)) {
      const yaml = tables.text({ orgId, policy: name, version }) ?? "";
      yield { name, version, created_at: isoTime(createdAtMs), yaml };
    }
  }
}
