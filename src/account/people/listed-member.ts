/** A row of the list of members: the person, their role, their state, and their invitation while it waits. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { type MemberRow, memberShape, memberWire, type UserRow } from "../person.ts";
import type { AccountTables } from "../tables.ts";
import { isInvitation, isOver, mayStillBeGiven } from "./invitations.ts";

export const listedMemberShape = memberShape.extend({
  status: z
    .enum(["active", "invited", "lapsed", "disabled"])
    .describe(
      "`invited`: has not joined yet; `lapsed`: the invitation has ended, or whoever gave its role could not give it any more; `disabled`: by the operator, may not sign in",
    ),
  since: field.time("When the person joined; of one who has not, when they were invited"),
  is_managed: z
    .boolean()
    .describe("The org's directory (SCIM) decides about this member: they are changed there"),
  invitation: z
    .object({
      expires_at: z.string().nullable().describe("Until when it can be accepted; null: without end"),
      invited_by: z
        .string()
        .describe("E-mail address of who invited; empty where a key did, or it is not known"),
    })
    .optional()
    .describe("Absent for whoever has joined"),
});

export interface ListedMemberDeps {
  readonly accounts: AccountTables;
  /** Port: the org has a directory (SCIM). */
  readonly hasDirectory: (orgId: string) => boolean;
}

/** @param user of the row */
export function listedMemberWire(
  { accounts, hasDirectory }: ListedMemberDeps,
  row: MemberRow,
  user: UserRow,
  nowMs: number,
): z.input<typeof listedMemberShape> {
  const { by, endsAtMs } = row.invitation ?? {};
  const isWaiting = isInvitation(row, user);
  const hasLapsed = isWaiting && (isOver(row, nowMs) || !mayStillBeGiven(accounts, row, nowMs));
  return {
    ...memberWire(row, user),
    status: hasLapsed ? "lapsed" : user.status === "erased" ? "disabled" : user.status,
    since: isoTime(row.addedAtMs),
    is_managed: row.source === "directory" && hasDirectory(row.orgId),
    ...(isWaiting && {
      invitation: {
        expires_at: endsAtMs === undefined ? null : isoTime(endsAtMs),
        invited_by: by?.kind === "person" ? (accounts.people.user(by.id)?.email ?? "") : "",
      },
    }),
  };
}
