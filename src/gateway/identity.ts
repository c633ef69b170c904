/**
 * Opens the room of identity, and says who is behind a credential. Without a provider in the settings the built-in one is
 * started when somebody first signs in, and only where nobody but this machine can reach the gateway.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { SecuritySettings } from "../account/org.ts";
import type { UserRow } from "../account/person.ts";
import { type Clock, systemRandom } from "../clock.ts";
import { type Config, isLocalOnly } from "../config.ts";
import type { CredentialPorts } from "../edge/authorize.ts";
import { fail } from "../errors.ts";
import type { Trail } from "../events/trail.ts";
import type { HttpHead } from "../http-head.ts";
import { consoleCookies } from "../identity/cookies.ts";
import { LoginStates } from "../identity/login-state.ts";
import { logoutNotices } from "../identity/logout-notice.ts";
import { identityOperations } from "../identity/operations.ts";
import { locksOf, personOf } from "../identity/person-access.ts";
import { type ProviderSettings, RelyingParty } from "../identity/relying-party.ts";
import { Sessions } from "../identity/sessions.ts";
import type { Installation } from "../installation/installation.ts";
import type { Store } from "../store/store.ts";
import type { openAccount } from "./account.ts";
import type { Directory } from "./directory.ts";
import { operatorSecret } from "./operator-key.ts";

interface IdentityGround extends Awaited<ReturnType<typeof openAccount>> {
  readonly store: Store;
  /** Of a cell among others. */
  readonly holder: string | undefined;
  readonly clock: Clock;
  readonly installation: Installation;
  readonly trail: Trail;
  readonly directory: Directory;
}

export function openIdentity(config: Config, log: Logger, ground: IdentityGround) {
  const { accounts, clock, directory, installation, keyring, store, isOperator } = ground;
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const builtIn = new BuiltInProvider(config, clock, log);
  const provider = new RelyingParty(async () => config.oidc ?? (await builtIn.settings()));
  const sessions = new Sessions({ store, clock, csrfSecret: installation.secret("csrf"), onFailure });
  const states = new LoginStates(installation.secret("login"), clock);
  const cookies = consoleCookies(config.publicUrl?.startsWith("https:") === true);
  const notices = logoutNotices({ store, clock, accounts, sessions, provider, onFailure });
  const access = { accounts, sessions, clock, isOperator };
  const isCell = ground.holder !== undefined;
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
      ...{ sessions, provider, states, cookies, publicUrl: config.publicUrl },
      trustsEmail: config.settings.oidc.trust_email,
      directories: directory.links,
    }),
    /** Port of the room of accounts. */
    locksOf(security: SecuritySettings, head: HttpHead) {
      const session = sessions.find(head.cookie(cookies.sessionName) ?? "");
      return session === undefined ? [] : locksOf(security, session.row, head.address, clock.now());
    },
    /** A person whom the built-in provider knows is gone from its list. */
    async forget({ iss, sub }: Pick<UserRow, "iss" | "sub">): Promise<void> {
      if (iss === BUILT_IN) await builtIn.forget(sub);
    },
    /** The gateway's address is known: the built-in provider sends browsers back there. */
    listensAt: (port: number) => builtIn.listensAt(port),
    /** Where the built-in provider listens, which lets anyone sign in as anyone: no tenant's URL may reach it. */
    ownPorts: () => builtIn.ports,
    async close() {
      sessions.close();
      notices.close();
      await builtIn.close();
    },
  };
}

/** What users of the built-in provider have as their issuer, whatever its port. */
const BUILT_IN = "built-in";

interface StartedProvider {
  readonly settings: ProviderSettings;
  forget(sub: string): Promise<void>;
  close(): Promise<void>;
}

/** The identity provider of the simulator, started when it is first needed. */
class BuiltInProvider {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #log: Logger;
  #port = 0;
  #started: Promise<StartedProvider> | undefined;
  /** Of the provider itself: the one asked for while it starts, then the one that it got. */
  #ports: readonly number[] = [];

  constructor(config: Config, clock: Clock, log: Logger) {
    this.#config = config;
    this.#clock = clock;
    this.#log = log;
  }

  listensAt(port: number): void {
    this.#port = port;
  }

  get ports(): readonly number[] {
    return this.#ports;
  }

  async settings(): Promise<ProviderSettings> {
    if (!isLocalOnly(this.#config)) {
      throw fail("identity_unavailable", "No identity provider is configured. Set OIDC_ISSUER.", {
        retryable: false,
      });
    }
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return (await this.#started).settings;
  }

  /** Where nobody has signed in since the start, in its file. */
  async forget(sub: string): Promise<void> {
    const running = await this.#started;
    if (running !== undefined) return await running.forget(sub);
    const { openPeople } = await import("../../simulator/identity/people.ts");
    const people = await openPeople(join(this.#config.dataDir, "identity", "people.json"), systemRandom);
    await people.remove(sub);
  }

  async #start(): Promise<StartedProvider> {
    // Loaded here: most processes never need it.
    const { startIdentityProvider } = await import("../../simulator/identity/identity-provider.ts");
    const folder = join(this.#config.dataDir, "identity");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const port = this.#port;
    const origins = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`];
    const wanted = port === 0 || port === 65_535 ? 0 : port + 1;
    this.#ports = [wanted];
    const [clientId, clientSecret] = ["weir", randomBytes(32).toString("base64url")];
    const provider = await startIdentityProvider({
      port: wanted,
      peopleFile: join(folder, "people.json"),
      clients: [
        {
          ...{ id: clientId, secret: clientSecret },
          redirectUris: origins.map((origin) => `${origin}/auth/callback`),
          postLogoutRedirectUris: origins.map((origin) => `${origin}/auth/login`),
          backchannelLogoutUri: `${origins[0]}/auth/backchannel-logout`,
        },
      ],
      ...{ clock: this.#clock, random: systemRandom },
      report: (problem) => this.#log.warn({ problem }, "the built-in identity provider"),
    });
    this.#ports = [Number(new URL(provider.issuer).port)];
    this.#log.info({ issuer: provider.issuer }, "the built-in identity provider is up");
    // Its port may be another after the next start; the people stay the same.
    const settings = { issuer: provider.issuer, clientId, clientSecret, storedIssuer: BUILT_IN };
    return { settings, forget: (sub: string) => provider.forget(sub), close: () => provider.close() };
  }

  async close(): Promise<void> {
    await (await this.#started?.catch(() => undefined))?.close();
  }
}
