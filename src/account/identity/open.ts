/**
 * Opens the room of identity: sessions, sign-in, and the person behind a session. Without an identity provider in the settings the
 * gateway starts one of its own at the first sign-in, and only where no other machine can reach the gateway.
 */
import type { Logger } from "pino";
import { fail } from "../../base/errors.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import type { Caller, PersonRequest } from "../../base/operation/operation.ts";
import type { Installation } from "../../store/installation/installation.ts";
import type { Store } from "../../store/store.ts";
import type { SecuritySettings } from "../org.ts";
import type { UserRow } from "../person.ts";
import { BUILT_IN, type BuiltInIdentity } from "./built-in.ts";
import { consoleCookies } from "./cookies.ts";
import { linkOperations, type OfferedLink } from "./link-operations.ts";
import { LoginStates } from "./login-state.ts";
import { logoutNotices } from "./logout-notice.ts";
import { type IdentityOperationDeps, identityOperations } from "./operations.ts";
import { locksOf, personOf } from "./person-access.ts";
import { type ProviderSettings, RelyingParty } from "./relying-party.ts";
import { Sessions } from "./sessions.ts";

export interface IdentityPorts
  extends Omit<IdentityOperationDeps, "sessions" | "provider" | "states" | "cookies"> {
  readonly store: Store;
  readonly installation: Installation;
  /** The identity provider of the settings. */
  readonly oidc: ProviderSettings | undefined;
  /** The one of the gateway's own, for people who try it; started when it is first asked for. */
  readonly builtIn: BuiltInIdentity;
  /** The sign-in link that a start of this gateway printed; undefined where a start offers none. */
  readonly offeredLink: OfferedLink | undefined;
  /** Only this machine reaches the gateway. */
  readonly isLoopback: boolean;
  readonly log: Logger;
}

export interface Identity {
  readonly sessions: Sessions;
  readonly notices: ReturnType<typeof logoutNotices>;
  readonly operations: ReturnType<typeof identityOperations> & ReturnType<typeof linkOperations>;
  /** Name of the session cookie. */
  readonly sessionCookie: string;
  /** Finds the person of a session and makes the caller of it. @throws WeirError that refuses the request */
  personOf(request: PersonRequest): Caller;
  /** Port of the room of accounts. */
  locksOf(security: SecuritySettings, head: HttpHead): ReturnType<typeof locksOf>;
  /** A person whom the built-in provider knows is gone from its list. */
  forget(person: Pick<UserRow, "iss" | "sub">): Promise<void>;
  close(): void;
}

export function openIdentity(ports: IdentityPorts): Identity {
  const { accounts, clock, installation, store, isOperator, publicUrl, oidc, log } = ports;
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const provider = new RelyingParty(async () => oidc ?? (await builtIn(ports)));
  const sessions = new Sessions({ store, clock, csrfSecret: installation.secret("csrf"), onFailure });
  const states = new LoginStates(installation.secret("login"), clock);
  const cookies = consoleCookies(publicUrl?.startsWith("https:") === true);
  const notices = logoutNotices({ store, clock, accounts, sessions, provider, onFailure });
  const access = { accounts, sessions, clock, isOperator };
  return {
    sessions,
    notices,
    operations: {
      ...identityOperations({ ...ports, sessions, provider, states, cookies }),
      ...linkOperations({ ...ports, sessions, cookies, offered: ports.offeredLink }),
    },
    sessionCookie: cookies.sessionName,
    personOf: (request) => personOf(access, request),
    locksOf(security, head) {
      const session = sessions.find(head.cookie(cookies.sessionName) ?? "");
      return session === undefined ? [] : locksOf(security, session.row, head.address, clock.now());
    },
    async forget({ iss, sub }) {
      if (iss === BUILT_IN) await ports.builtIn.forgetPerson(sub);
    },
    close() {
      sessions.close();
      notices.close();
    },
  };
}

/** @throws WeirError `identity_unavailable` (as a rejection) where others than this machine could sign in as anyone */
async function builtIn({ builtIn: own, isLoopback }: IdentityPorts): Promise<ProviderSettings> {
  if (!isLoopback) {
    throw fail("identity_unavailable", "No identity provider is configured. Set OIDC_ISSUER.", {
      retryable: false,
    });
  }
  return { ...(await own.identity()), storedIssuer: BUILT_IN };
}
