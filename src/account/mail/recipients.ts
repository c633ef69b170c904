/** Who gets mails that are about an org, and not about one person. */
import { emailField, emailNormalForm } from "../fields/email.ts";
import type { AdministratorRole } from "../people.ts";
import type { AccountTables } from "../tables.ts";

/** One mail goes to so many people at most. */
const MOST_RECIPIENTS = 20;

/**
 * The org's billing address; without one its owners, and its admins where no owner has signed in yet. Empty where the org is
 * unknown or nobody has an address that mail can be sent to.
 */
export function orgRecipients(accounts: Pick<AccountTables, "org" | "people">, orgId: string): string[] {
  const billingEmail = accounts.org(orgId)?.billingEmail ?? "";
  if (billingEmail !== "") return usable([billingEmail]);
  const withRole = (role: AdministratorRole): string[] => usable(activeEmails(accounts, orgId, role));
  const owners = withRole("owner");
  return owners.length > 0 ? owners : withRole("admin");
}

/**
 * The org's owners and admins who have signed in, owners first, whatever its billing address: for what is urgent and not about
 * money. Where there is none of them, as {@link orgRecipients}.
 */
export function orgAdministrators(accounts: Pick<AccountTables, "org" | "people">, orgId: string): string[] {
  const administrators = usable(activeEmails(accounts, orgId, "owner", "admin"));
  return administrators.length > 0 ? administrators : orgRecipients(accounts, orgId);
}

/** Those of the first role first. Read lazily: a directory may make thousands of people admins. */
function* activeEmails(
  { people }: Pick<AccountTables, "people">,
  orgId: string,
  ...roles: readonly AdministratorRole[]
): Generator<string> {
  for (const role of roles) {
    for (const { userId } of people.withRole(orgId, role)) {
      const user = people.user(userId);
      if (user?.status === "active") yield user.email;
    }
  }
}

/** Each address once. Identity providers may vouch for addresses that no mail can be sent to: those are left out. */
function usable(emails: Iterable<string>): string[] {
  const byForm = new Map<string, string>();
  for (const email of emails) {
    const read = emailField.safeParse(email);
    if (read.success) byForm.set(emailNormalForm(read.data), read.data);
    if (byForm.size >= MOST_RECIPIENTS) break;
  }
  return [...byForm.values()];
}
