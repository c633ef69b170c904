/**
 * Opens the room of identity, and says who is behind a credential. Without a provider in the settings the built-in one is
 * started when somebody first signs in, and only where nobody but this machine can reach the gateway.
 */
import type { Logger } from "pino";
import { consoleCookies } from "../../account/identity/cookies.ts";
import { LoginStates } from "../../account/identity/login-state.ts";
import { logoutNotices } from "../../account/identity/logout-notice.ts";
import { identityOperations } from "../../account/identity/operations.ts";
import { locksOf, personOf } from "../../account/identity/person-access.ts";
import { type ProviderSettings, RelyingParty } from "../../account/identity/relying-party.ts";
import { Sessions } from "../../account/identity/sessions.ts";
import type { SecuritySettings } from "../../account/org.ts";
import type { UserRow } from "../../account/person.ts";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import type { Services } from "../../cluster/supervisor/services.ts";
import type { CredentialPorts } from "../../edge/authorize.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Installation } from "../../store/installation/installation.ts";
import type { Store } from "../../store/store.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";
import type { openAccount } from "./account.ts";
import type { Directory } from "./directory.ts";
import { operatorSecret } from "./operator-key.ts";

interface IdentityGround extends Awaited<ReturnType<typeof openAccount>> {
  readonly store: Store;
  /** Set where the gateway is a cell among others. */
  readonly cell: unknown;
  readonly clock: Clock;
  readonly installation: Installation;
  readonly trail: Trail;
  readonly directory: Directory;
  readonly services: Services;
}

export function openIdentity(config: Config, log: Logger, ground: IdentityGround) {
  const { accounts, clock, directory, installation, keyring, services, store, isOperator } = ground;
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const provider = new RelyingParty(async () => config.oidc ?? (await builtIn(config, services)));
  const sessions = new Sessions({ store, clock, csrfSecret: installation.secret("csrf"), onFailure });
  const states = new LoginStates(installation.secret("login"), clock);
  const cookies = consoleCookies(config.publicUrl?.startsWith("https:") === true);
  const notices = logoutNotices({ store, clock, accounts, sessions, provider, onFailure });
  const access = { accounts, sessions, clock, isOperator };
  const isCell = ground.cell !== undefined;
  const isOperatorKey = operatorSecret(config.dataDir, isCell ? installation.secret("operator") : undefined);
  const credentials: CredentialPorts = {
    keyring,
    sessionCookie: cookies.sessionName,
    personOf: (request) => personOf(access, request),
    isOperator: isOperatorKey,
    directoryOf: directory.callerOf,
    orgIdOf: (idOrSlug) => accounts.orgByIdOrSlug(idOrSlug)?.id,
  };
  return {
    sessions,
    credentials,
    notices,
    operations: identityOperations({
      ...ground,
      sessions,
      provider,
      states,
      cookies,
      publicUrl: config.publicUrl,
      trustsEmail: config.settings.oidc.trust_email,
      maxOrgsOfPerson: config.settings.max_orgs_per_person,
      directories: directory.links,
    }),
    /** Port of the room of accounts. */
    locksOf(security: SecuritySettings, head: HttpHead) {
      const session = sessions.find(head.cookie(cookies.sessionName) ?? "");
      return session === undefined ? [] : locksOf(security, session.row, head.address, clock.now());
    },
    /** A person whom the built-in provider knows is gone from its list. */
    async forget({ iss, sub }: Pick<UserRow, "iss" | "sub">): Promise<void> {
      if (iss === BUILT_IN) await services.forgetPerson(sub);
    },
    close() {
      sessions.close();
      notices.close();
    },
  };
}

/** What users of the built-in provider have as their issuer, whatever its port: it may be another after the next start. */
const BUILT_IN = "built-in";

/** @throws WeirError `identity_unavailable` (as a rejection) where others than this machine could sign in as anyone */
async function builtIn(config: Config, services: Services): Promise<ProviderSettings> {
  if (!isLocalOnly(config)) {
    throw fail("identity_unavailable", "No identity provider is configured. Set OIDC_ISSUER.", {
      retryable: false,
    });
  }
  return { ...(await services.identity()), storedIssuer: BUILT_IN };
}
