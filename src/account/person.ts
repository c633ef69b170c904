/**
 * People and their membership in orgs. A person is who the identity provider says (`iss`, `sub`), never an e-mail address:
 * addresses are given to somebody else in time. An invited person has no `sub` yet.
 */
import { z } from "zod";
import { newId } from "../base/ids.ts";
import * as field from "../base/operation/fields.ts";
import type { Actor } from "../base/operation/operation.ts";
import { ROLES, type Role } from "./roles.ts";

export interface UserRow {
  readonly id: string;
  /** Issuer and subject; empty until the first sign-in. */
  readonly iss: string;
  readonly sub: string;
  readonly email: string;
  /** The identity provider vouches for the address. */
  readonly isEmailVerified: boolean;
  readonly name: string;
  /** `disabled`: by the operator; may not sign in. `erased`: nothing personal is left. */
  readonly status: "invited" | "active" | "disabled" | "erased";
  readonly createdAtMs: number;
}

export interface MemberRow {
  readonly orgId: string;
  readonly userId: string;
  readonly role: Role;
  readonly addedAtMs: number;
  /** `directory`: the org's directory (SCIM) added the person, decides about their role, and removes them. Never an owner. */
  readonly source: "creation" | "invitation" | "directory";
  /** While the person is invited: who answers for it, and when it ends. Absent in rows of 0.1.0. */
  readonly invitation?: { readonly by: Actor; readonly endsAtMs: number };
  /** When the person last chose the org: their next session begins there. Absent: never. */
  readonly chosenAtMs?: number;
  /** Id of the invitation that the person accepted: accepting it twice is no error. */
  readonly acceptedId?: string;
}

/**
 * Whether the org is the person's own, which may decide what they did not choose: how long their session lasts, and which org it
 * is about. An org that invited them, or whose directory added them, decides neither.
 */
export const isOwnOrg = ({ source }: MemberRow): boolean => source === "creation";

export const invitedUser = (email: string, nowMs: number): UserRow => ({
  id: newId("usr", nowMs),
  iss: "",
  sub: "",
  email,
  isEmailVerified: false,
  name: "",
  status: "invited",
  createdAtMs: nowMs,
});

export const memberShape = z.object({
  org_id: field.orgId,
  user_id: z.string().describe("The person's id, `usr_…`"),
  role: z.enum(ROLES).describe("What the person may do in the org"),
  email: z.string().describe("As the identity provider says; before the first sign-in, as it was invited"),
  name: z.string().optional().describe("As the identity provider says; absent before the first sign-in"),
});

export const memberWire = (row: MemberRow, user: UserRow): z.input<typeof memberShape> => ({
  org_id: row.orgId,
  user_id: row.userId,
  role: row.role,
  email: user.email,
  ...(user.name !== "" && { name: user.name }),
});

export const userShape = z.object({
  id: z.string().describe("The person's id, `usr_…`"),
  email: z.string().describe("As the identity provider says; empty where it tells none"),
  name: z.string().describe("As the identity provider says; empty where it tells none"),
  status: z
    .enum(["invited", "active", "disabled", "erased"])
    .describe("`active` for whoever has signed in; `disabled` by the operator: may not sign in"),
});

export const userWire = ({ id, email, name, status }: UserRow): z.input<typeof userShape> => ({
  id,
  email,
  name,
  status,
});
