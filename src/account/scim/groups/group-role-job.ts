/**
 * The job that gives the members of a group their roles after its name changed. It is put in the act that changes the name, so
 * that it ends although the process dies.
 */
import { z } from "zod";
import { newId } from "../../../base/ids.ts";
import { systemCaller } from "../../../base/operation/keyless.ts";
import { type JobHandler, jobKind } from "../../../store/jobs/job.ts";
import { type MembershipDeps, settleRole } from "../membership.ts";
import { memberSlices } from "./group-members.ts";

const MEMBERS_AT_ONCE = 32;

const payload = z.object({ orgId: z.string(), groupId: z.string() });

export const settleGroupRoles = jobKind({
  name: "scim.settle_group_roles",
  payload,
  tries: 20,
  backoff: { firstMs: 1000, mostMs: 3_600_000 },
  atOnce: 2,
  atOncePerLane: 1,
  leaseMs: 60_000,
});

export function groupRoleHandler(deps: MembershipDeps): JobHandler<z.output<typeof payload>> {
  const { accounts, tables, clock } = deps;
  return {
    async run({ orgId, groupId }) {
      const caller = systemCaller("", orgId, newId("job", clock.now()));
      for await (const ids of memberSlices(deps, orgId, groupId, MEMBERS_AT_ONCE)) {
        await accounts.act(() => {
          for (const id of ids) {
            const user = tables.user(orgId, id);
            if (user !== undefined) settleRole(deps, caller, user);
          }
        });
      }
      return undefined;
    },
  };
}
