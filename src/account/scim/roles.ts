/** Which role the groups of a directory give. */
import { ROLES, type Role } from "../roles.ts";
import { foldCase } from "./attribute.ts";

/** Ownership is handed over by owners alone, so that whoever runs a directory cannot take an org. */
export type DirectoryRole = Exclude<Role, "owner">;

/** Highest first. */
const GIVEN = ROLES.filter((role) => role !== "owner");

/** The role of a group called `admin` or `weir-admin`, in any case; undefined for any other name. */
export function roleOfName(displayName: string): DirectoryRole | undefined {
  const name = foldCase(displayName.trim());
  return GIVEN.find((role) => name === role || name === `weir-${role}`);
}

/** The highest role that groups of these names give; `member` where none names a role. `billing` stands above `member`, though neither opens all of the other. */
export function roleOfGroups(displayNames: readonly string[]): DirectoryRole {
  const given = new Set(displayNames.map(roleOfName));
  return GIVEN.find((role) => given.has(role)) ?? "member";
}
