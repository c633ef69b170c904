/** Opens who uses the gateway: accounts, their mail, their directories and how people sign in. */
import { type Identity, openIdentity } from "../../account/identity/open.ts";
import { type OpenMail, openMailRoom } from "../../account/mail/open.ts";
import { type Account, openAccount } from "../../account/open.ts";
import { operatorSecret } from "../../account/operator/operator-key.ts";
import { type Directory, openDirectory } from "../../account/scim/open.ts";
import type { Book } from "../../credits/ledger/book.ts";
import { grantFirst } from "../../credits/ledger/first-grant.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";
import { offersLink } from "../settings/offers-link.ts";
import type { Ground } from "./ground.ts";

export interface People {
  readonly account: Account;
  readonly mail: OpenMail;
  readonly directory: Directory;
  readonly identity: Identity;
  readonly isOperatorKey: (text: string) => boolean;
}

/** Opens the rooms of accounts, each with the settings that it needs. */
export async function openPeople(config: Config, ground: Ground, book: Book): Promise<People> {
  const { publicUrl, settings } = config;
  const isLoopback = isLocalOnly(config);
  const account = await openAccount({
    ...ground,
    dataDir: config.dataDir,
    sold: { plans: config.plans, defaultId: settings.default_plan },
    operators: settings.operators,
    playgroundDailyMicroUsd: Math.max(1, Math.round(settings.playground.daily_usd * 1e6)),
    isLoopback,
    isCell: ground.cell !== undefined,
    grantFirst: (orgId) => grantFirst(book, orgId, settings.grant_usd),
  });
  const mail = openMailRoom({
    ...ground,
    ...account,
    smtp: config.smtp,
    from: config.mailFrom,
    publicUrl,
    host: config.host,
  });
  const directory = openDirectory({ ...ground, ...account, publicUrl });
  const shared = ground.cell && ground.installation.secret("operator");
  const isOperatorKey = operatorSecret(config.dataDir, shared);
  const identity = openIdentity({
    ...ground,
    ...account,
    directories: directory.links,
    oidc: config.oidc,
    builtIn: ground.services,
    offeredLink: offersLink(config) && ground.services.hasLink ? ground.services : undefined,
    isLoopback,
    publicUrl,
    trustsEmail: settings.oidc.trust_email,
    maxOrgsOfPerson: settings.max_orgs_per_person,
  });
  directory.handleJobs(ground.jobs, (personId) => identity.sessions.endAllOf(personId));
  return { account, mail, directory, identity, isOperatorKey };
}
