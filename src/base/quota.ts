/**
 * Quotas: how many rows of a kind an org or a person may have or make, so that no tenant fills the store. Their names are those
 * of `quotas` in `weir.yaml` and of `details.quota` in the 403 that refuses one more. Check them in the act that adds the row.
 */
import { z } from "zod";
import { fail, type WeirError } from "./errors.ts";

const most = (usual: number) => z.int().positive().max(1_000_000_000).default(usual);

/** What one org may have or make, unless a comment tells otherwise. */
export const quotasField = z
  .strictObject({
    policies: most(100),
    /** Versions of one policy. */
    policy_versions: most(1_000),
    /** Bytes of the texts of all policies together. */
    policy_bytes: most(64 * 1024 * 1024),
    webhooks: most(50),
    apps: most(50),
    /** Users of the analytics database. */
    analytics_users: most(20),
    /** Keys of one provider. */
    provider_keys: most(16),
    /** Invited people included. */
    members: most(10_000),
    invitations_per_day: most(50),
    /** That no operator has decided yet. */
    open_tickets: most(100),
    /** Beyond it the oldest that is decided goes. */
    tickets: most(1_000),
    /** Revoked and expired ones included: records name them. */
    keys_ever: most(100_000),
    /** Projects that one person tried the playground with in the last month. */
    playground_keys: most(100),
    /** Deleted ones included. */
    projects_ever: most(10_000),
    /** Each of three groups may make so many: an org's keys, its owners and admins, and its other people. */
    changes_per_day: most(5_000),
    changes_per_month: most(30_000),
    /** Changes by the org's directory: a group's change may be one of thousands of members. */
    directory_changes_per_day: most(50_000),
    directory_changes_per_month: most(150_000),
    /** Requests of its directory that are logged. */
    directory_log_per_day: most(50_000),
    topups_per_hour: most(10),
    mandates_per_hour: most(10),
    invoices_resent_per_day: most(10),
    /** Orgs that one person made, whoever owns them now. */
    orgs_made_per_day: most(5),
    /** To people whom the org or its people choose. */
    mails_per_day: most(200),
    /** The same, asked for by one person in all their orgs. */
    person_mails_per_day: most(100),
    /** The same, of one org to one address. */
    org_address_mails_per_day: most(10),
    /** The same, to one address, from all orgs. */
    address_mails_per_day: most(30),
  })
  .prefault({});

export type Quotas = Readonly<z.output<typeof quotasField>>;
export type QuotaName = keyof Quotas;

/** As shipped. */
export const USUAL_QUOTAS: Quotas = quotasField.parse({});

/**
 * Call in the act that adds one more.
 * @param has how many there are
 * @param what the rows in words, with whose they are: `webhooks of an organisation`
 * @param cure what the caller can do: `Delete one first.`
 * @throws WeirError 403 `plan_limit`
 */
export function assertWithin(
  quotas: Quotas,
  quota: QuotaName,
  has: number,
  what: string,
  cure: string,
): void {
  if (has >= quotas[quota]) throw overQuota(quotas, quota, what, cure);
}

export function overQuota(quotas: Quotas, quota: QuotaName, what: string, cure: string): WeirError {
  const limit = quotas[quota];
  const message = `No more than ${limit} ${what}. ${cure} An operator can raise the quota ${quota}.`;
  return fail("plan_limit", message, { details: { quota, limit } });
}
