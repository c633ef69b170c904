/** Opens the room of accounts: orgs, people, operators, keys. */
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Caller } from "../base/operation/operation.ts";
import type { Quotas } from "../base/quota.ts";
import type { Trail } from "../store/events/trail.ts";
import type { Installation } from "../store/installation/installation.ts";
import type { Store } from "../store/store.ts";
import { emailNormalForm } from "./fields/email.ts";
import { type FirstStart, firstStart } from "./first-start.ts";
import { type KeyContext, Keyring } from "./keyring.ts";
import { LastUsed } from "./keys/last-used.ts";
import { type PlaygroundAsked, playgroundContext } from "./keys/playground-key.ts";
import { openOrgsMade } from "./orgs/ownership.ts";
import { FirstOwner } from "./people/first-owner.ts";
import { openInvitationCounts } from "./people/member-operations.ts";
import type { UserRow } from "./person.ts";
import { type AccountPlans, accountPlans, type PlanPort, type SoldPlans } from "./plan-limits.ts";
import { ProviderKeys } from "./provider-keys/provider-keys.ts";
import { openVault } from "./provider-keys/vault.ts";
import { AccountTables } from "./tables.ts";
import { Tickets } from "./tickets/tickets.ts";

export interface AccountPorts {
  readonly dataDir: string;
  readonly sold: SoldPlans;
  readonly quotas: Quotas;
  /** What each key of the playground may spend in a day. */
  readonly playgroundDailyMicroUsd: number;
  /** Addresses of operators, as the identity provider vouches for them. */
  readonly operators: readonly string[];
  /** Only this machine reaches the gateway. */
  readonly isLoopback: boolean;
  /** The gateway is a cell among others. */
  readonly isCell: boolean;
  /** Runs in the act that makes the first org. */
  readonly grantFirst: (orgId: string) => void;
  readonly store: Store;
  readonly clock: Clock;
  readonly installation: Installation;
  readonly trail: Trail;
  readonly log: Logger;
}

export interface Account {
  readonly plan: PlanPort;
  readonly plans: AccountPlans;
  readonly accounts: AccountTables;
  readonly ownKeys: ProviderKeys;
  readonly lastUsed: LastUsed;
  readonly keyring: Keyring;
  /** What the first start made; undefined at later ones. */
  readonly first: FirstStart | undefined;
  readonly isOperator: (user: UserRow) => boolean;
  readonly invitationCounts: ReturnType<typeof openInvitationCounts>;
  readonly orgsMade: ReturnType<typeof openOrgsMade>;
  readonly firstOwner: FirstOwner;
  readonly tickets: Tickets;
  readonly playgroundDailyMicroUsd: number;
  /** What a person's key of the playground would be to a call. @throws WeirError 400, 403 */
  readonly playgroundContext: (caller: Caller, asked: PlaygroundAsked) => KeyContext;
  closeTables(): void;
}

/** Opens orgs, people, keys and orgs' own provider keys. */
export async function openAccount(ports: AccountPorts): Promise<Account> {
  const { store, clock, installation, trail, dataDir, sold, isLoopback, log } = ports;
  const plans = accountPlans(sold);
  const plan = plans.inForce;
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
    planId: sold.defaultId,
    also: ({ orgId }) => ports.grantFirst(orgId),
  });
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const isOperator = operatorsOf(ports.operators);
  const invitationCounts = openInvitationCounts({ store, clock, onFailure });
  const firstOwner = new FirstOwner({
    accounts,
    clock,
    trail,
    dataDir,
    isLoopback,
    isOperator,
    shared: ports.isCell ? installation.secret("first-owner") : undefined,
  });
  const orgsMade = openOrgsMade({ store, clock, onFailure });
  return {
    plan,
    plans,
    accounts,
    ownKeys,
    lastUsed,
    keyring,
    first,
    isOperator,
    invitationCounts,
    orgsMade,
    firstOwner,
    tickets: new Tickets(store, ports.quotas),
    playgroundDailyMicroUsd: ports.playgroundDailyMicroUsd,
    playgroundContext: (caller, asked) =>
      playgroundContext(
        { accounts, keyring, dailyMicroUsd: ports.playgroundDailyMicroUsd, now: () => clock.now() },
        caller,
        asked,
      ),
    closeTables() {
      invitationCounts.close();
      orgsMade.close();
    },
  };
}

/** Only an address that the identity provider vouches for makes an operator. */
function operatorsOf(emails: readonly string[]): (user: UserRow) => boolean {
  const known = new Set(emails.map(emailNormalForm));
  return ({ email, isEmailVerified }) => isEmailVerified && known.has(emailNormalForm(email));
}
