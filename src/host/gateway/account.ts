/** Opens the room of accounts: orgs, people, keys, and who is an operator. */
import type { Logger } from "pino";
import { emailNormalForm } from "../../account/fields/email.ts";
import { firstStart } from "../../account/first-start.ts";
import { Keyring } from "../../account/keyring.ts";
import { LastUsed } from "../../account/keys/last-used.ts";
import { openOrgsMade } from "../../account/orgs/ownership.ts";
import { FirstOwner } from "../../account/people/first-owner.ts";
import { openInvitationCounts } from "../../account/people/member-operations.ts";
import type { UserRow } from "../../account/person.ts";
import type { Plan, PlanFeaturesPort, PlanList, PlanPort } from "../../account/plan.ts";
import { ProviderKeys } from "../../account/provider-keys/provider-keys.ts";
import { openVault } from "../../account/provider-keys/vault.ts";
import { AccountTables } from "../../account/tables.ts";
import { Tickets } from "../../account/tickets/tickets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Installation } from "../../store/installation/installation.ts";
import type { Store } from "../../store/store.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";

interface AccountGround {
  readonly store: Store;
  /** Set where the gateway is a cell among others. */
  readonly cell: unknown;
  readonly clock: Clock;
  readonly installation: Installation;
  readonly trail: Trail;
}

/** Opens orgs, people, keys and orgs' own provider keys. */
export async function openAccount(config: Config, log: Logger, ground: AccountGround, book: Book) {
  const { store, cell, clock, installation, trail } = ground;
  const { dataDir, settings } = config;
  const plan = planPort(config);
  const accounts = new AccountTables(store);
  await accounts.people.listAdministrators(store);
  const ownKeys = new ProviderKeys({
    accounts,
    vault: openVault(installation),
    // The start continues; the org sees the key as `unreadable` in its list.
    onUnreadable: ({ id, orgId, providerId }) =>
      log.error(
        { id, orgId, providerId },
        "a provider key does not open with this master key and is not used",
      ),
  });
  const lastUsed = new LastUsed(accounts);
  const keyring = new Keyring({ accounts, clock, plan, lastUsed });
  const first = await firstStart({
    accounts,
    clock,
    dataDir,
    planId: settings.default_plan,
    also: ({ orgId }) => grantFirst(book, orgId, settings.grant_usd),
  });
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const isOperator = operatorsOf(settings.operators);
  const invitationCounts = openInvitationCounts(store, clock, onFailure);
  const isLoopback = isLocalOnly(config);
  const firstOwner = new FirstOwner({
    accounts,
    clock,
    trail,
    dataDir,
    isLoopback,
    isOperator,
    shared: cell === undefined ? undefined : installation.secret("first-owner"),
  });
  const orgsMade = openOrgsMade(store, clock, onFailure);
  const tables = [invitationCounts, orgsMade];
  return {
    plan,
    accounts,
    ownKeys,
    lastUsed,
    keyring,
    first,
    isOperator,
    invitationCounts,
    orgsMade,
    firstOwner,
    planFeatures: featuresPort(config),
    plans: planList(config),
    tickets: new Tickets(store, config.settings.quotas),
    closeTables() {
      for (const table of tables) table.close();
    },
  };
}

/** Only an address that the identity provider vouches for makes an operator. */
function operatorsOf(emails: readonly string[]): (user: UserRow) => boolean {
  const known = new Set(emails.map(emailNormalForm));
  return ({ email, isEmailVerified }) => isEmailVerified && known.has(emailNormalForm(email));
}

/** Runs in the act that creates the first org. */
export function grantFirst(book: Book, orgId: string, usd: number): void {
  const amountMicroUsd = Math.round(usd * 1e6);
  if (amountMicroUsd === 0) return;
  book.post(orgId, { kind: "grant", amountMicroUsd, refType: "first_start", refId: orgId });
}

/** An org whose plan was removed from plans.yaml gets the default plan. */
function planPort({ plans, settings }: Config): PlanPort {
  const limits = new Map(
    plans.map(({ id, limits: { auto_approve: autoApprove, ...rest } }) => [id, { ...rest, autoApprove }]),
  );
  return (id) => limits.get(id) ?? limits.get(settings.default_plan) ?? NO_PLAN;
}

function featuresPort({ plans, settings }: Config): PlanFeaturesPort {
  const known = new Map(plans.map(({ id, features }) => [id, features]));
  return (id) => {
    const { sso = false, priority_support: prioritySupport = false } =
      known.get(id) ?? known.get(settings.default_plan) ?? {};
    return { sso, prioritySupport };
  };
}

/** The settings have a default plan, or the start is refused. */
function planList(config: Config): PlanList {
  const defaultId = config.settings.default_plan;
  const [limitsOf, featuresOf] = [planPort(config), featuresPort(config)];
  const all = config.plans.map(
    ({ id }): Plan => ({ ...limitsOf(id), id, features: featuresOf(id), isDefault: id === defaultId }),
  );
  const byId = new Map(all.map((plan) => [plan.id, plan]));
  const usual = byId.get(defaultId) as Plan;
  return { all, inForce: (planId) => byId.get(planId) ?? usual };
}

const NO_PLAN = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0, autoApprove: 1 };
