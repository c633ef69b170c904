/** Whom a mail goes to, as far as the org's rows tell, and why they get it: a mail claims nothing of its reader that is not in the rows. */
import { sameEmail } from "../fields/email.ts";
import type { AdministratorRole } from "../people.ts";
import type { AccountTables } from "../tables.ts";

export interface Reader {
  readonly email: string;
  /** The org names the address as its billing address: it may be anybody's. */
  readonly isBilling: boolean;
  /** The role of the person at this address; undefined unless they are an owner or an admin and have signed in. */
  readonly role: AdministratorRole | undefined;
}

/** A directory may make thousands of people admins. */
const MOST_LOOKED_AT = 1000;

export function readerOf(
  accounts: Pick<AccountTables, "org" | "people">,
  orgId: string,
  email: string,
): Reader {
  const billing = accounts.org(orgId)?.billingEmail ?? "";
  return {
    email,
    isBilling: billing !== "" && sameEmail(billing, email),
    role: roleOf(accounts, orgId, email),
  };
}

function roleOf(
  { people }: Pick<AccountTables, "people">,
  orgId: string,
  email: string,
): AdministratorRole | undefined {
  let left = MOST_LOOKED_AT;
  for (const role of ["owner", "admin"] as const) {
    for (const { userId } of people.withRole(orgId, role)) {
      if (left-- === 0) return undefined;
      const user = people.user(userId);
      if (user?.status === "active" && sameEmail(user.email, email)) return role;
    }
  }
  return undefined;
}

const BY_ROLE: Readonly<Record<AdministratorRole, string>> = { owner: "own", admin: "administer" };

/** The last line of mails that an org gets about itself. All of them are owed, so none can be unsubscribed from. */
export function whyOrgMail(reader: Reader, orgName: string): string {
  if (reader.isBilling)
    return `You get this mail because “${orgName}” gave this address as its billing address.`;
  return whyAdministratorMail(reader, orgName);
}

/** The same of mails that go to owners and admins, whatever the billing address is. */
export function whyAdministratorMail({ role, isBilling }: Reader, orgName: string): string {
  if (role !== undefined) return `You get this mail because you ${BY_ROLE[role]} “${orgName}”.`;
  if (isBilling)
    return `You get this mail because “${orgName}” gave this address as its billing address, and has no owner or admin to write to.`;
  return `You get this mail because you answered for “${orgName}” when it was written: as its owner or admin, or by its billing address.`;
}
