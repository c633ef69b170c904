/** Users and groups of a directory as stored, and as SCIM shows them (RFC 7643 sections 4.1 and 4.2). */

import { isoTime } from "../../base/clock.ts";
import { emailField } from "../fields/email.ts";
import { foldCase } from "./attribute.ts";
import type { GroupBody, UserBody } from "./body.ts";
import { scimFail } from "./error.ts";
import { GROUP, USER } from "./schema.ts";

export type UserAttributes = Omit<UserBody, "active"> & { readonly active: boolean };
export type GroupAttributes = Omit<GroupBody, "members">;

interface ResourceRow {
  readonly id: string;
  readonly orgId: string;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** Rises with each change. */
  readonly version: number;
}

export interface ScimUserRow extends ResourceRow {
  readonly attributes: UserAttributes;
  /** The person of the installation whom the user stands for; empty for none. */
  readonly personId: string;
  /** Groups that the user is in; the same as in the table of members. */
  readonly groupIds: readonly string[];
}

export interface ScimGroupRow extends ResourceRow {
  readonly attributes: GroupAttributes;
  readonly memberCount: number;
}

/** A weak one. */
export const etagOf = ({ version }: Pick<ResourceRow, "version">): string => `W/"${version}"`;

const metaOf = (row: ResourceRow, resourceType: string, location: string) => ({
  resourceType,
  created: isoTime(row.createdAtMs),
  lastModified: isoTime(row.changedAtMs),
  location,
  version: etagOf(row),
});

export const userLocation = (baseUrl: string, id: string): string => `${baseUrl}${USER.endpoint}/${id}`;
export const groupLocation = (baseUrl: string, id: string): string => `${baseUrl}${GROUP.endpoint}/${id}`;

/** @param groups that the user is in; undefined where they are not shown */
export function userResource(
  row: ScimUserRow,
  baseUrl: string,
  groups: readonly ScimGroupRow[] | undefined,
): object {
  const meta = metaOf(row, USER.name, userLocation(baseUrl, row.id));
  return { ...userWithoutMeta(row, baseUrl, groups), meta };
}

/** The same without what is dear to make, for filters that do not look at it. */
export function userWithoutMeta(
  row: ScimUserRow,
  baseUrl: string,
  groups: readonly ScimGroupRow[] | undefined,
): object {
  const shown = groups?.map(({ id, attributes }) => ({
    value: id,
    $ref: groupLocation(baseUrl, id),
    display: attributes.displayName,
    type: "direct",
  }));
  return {
    schemas: [USER.id],
    id: row.id,
    ...row.attributes,
    ...(shown !== undefined && shown.length > 0 && { groups: shown }),
  };
}

/** Without its members, of which there may be many: {@link memberValue}. */
export const groupResource = (row: ScimGroupRow, baseUrl: string): object => ({
  schemas: [GROUP.id],
  id: row.id,
  ...row.attributes,
  meta: metaOf(row, GROUP.name, groupLocation(baseUrl, row.id)),
});

/** A member of a group. @param id of the user */
export const memberValue = (baseUrl: string, id: string): object => ({
  value: id,
  $ref: userLocation(baseUrl, id),
  type: USER.name,
});

/**
 * The address that invites a user: of `emails` the primary one, else that for work, else the first; else the userName.
 * @throws ScimError `invalidValue` if none is an e-mail address
 */
export function addressOf({ emails = [], userName }: UserAttributes): string {
  const chosen =
    emails.find(({ primary }) => primary === true) ??
    emails.find(({ type }) => foldCase(type ?? "") === "work") ??
    emails[0];
  for (const text of [chosen?.value, userName]) {
    const read = text === undefined ? undefined : emailField.safeParse(text);
    if (read?.success === true) return read.data;
  }
  throw scimFail("invalidValue", "A user needs an e-mail address: in emails, or as userName.");
}
