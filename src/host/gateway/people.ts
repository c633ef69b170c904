/** Opens who uses the gateway: accounts, their mail, their directories and how people sign in. */
import type { Logger } from "pino";
import { openIdentity } from "../../account/identity/open.ts";
import { openMailRoom } from "../../account/mail/open.ts";
import { openAccount } from "../../account/open.ts";
import { operatorSecret } from "../../account/operator/operator-key.ts";
import { openDirectory } from "../../account/scim/open.ts";
import type { Book } from "../../credits/ledger/book.ts";
import { grantFirst } from "../../credits/ledger/first-grant.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";
import type { Ground } from "./ground.ts";

interface PeoplePorts {
  readonly events: Events;
  readonly jobs: Jobs;
  readonly trail: Trail;
  readonly book: Book;
}

/** Opens the rooms of accounts, each with the settings that it needs. */
export async function openPeople(config: Config, log: Logger, ground: Ground & PeoplePorts) {
  const { publicUrl, settings } = config;
  const isLoopback = isLocalOnly(config);
  const account = await openAccount({
    ...ground,
    dataDir: config.dataDir,
    sold: { plans: config.plans, defaultId: settings.default_plan },
    operators: settings.operators,
    isLoopback,
    isCell: ground.cell !== undefined,
    grantFirst: (orgId) => grantFirst(ground.book, orgId, settings.grant_usd),
    log,
  });
  const mail = openMailRoom({
    ...ground,
    ...account,
    smtp: config.smtp,
    from: config.mailFrom,
    publicUrl,
    host: config.host,
    log,
  });
  const directory = openDirectory({ ...ground, ...account, publicUrl, log });
  const shared = ground.cell && ground.installation.secret("operator");
  const isOperatorKey = operatorSecret(config.dataDir, shared);
  const identity = openIdentity({
    ...ground,
    ...account,
    directories: directory.links,
    oidc: config.oidc,
    builtIn: ground.services,
    isLoopback,
    publicUrl,
    trustsEmail: settings.oidc.trust_email,
    maxOrgsOfPerson: settings.max_orgs_per_person,
    log,
  });
  directory.handleJobs(ground.jobs, (personId) => void identity.sessions.endAllOf(personId));
  return { account, mail, directory, identity, isOperatorKey };
}
