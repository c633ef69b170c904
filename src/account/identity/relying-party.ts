/**
 * The gateway as a client of an OpenID Connect provider: authorization code flow with PKCE, state and nonce (OpenID Connect
 * Core 1.0, section 3.1; RFC 7636), sign-out (RP-Initiated Logout 1.0) and the provider's notices of sign-out (Back-Channel
 * Logout 1.0). The provider is looked up when somebody first signs in; while it is away, keys and sessions work.
 */
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";
import { fail } from "../../base/errors.ts";
import { Once } from "../../base/once.ts";

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Under which people are stored; the built-in provider's address may change, its people do not. Default: the issuer. */
  readonly storedIssuer?: string;
}

/** What has to be remembered between the redirect to the provider and the way back. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Who signed in. */
export interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly name: string;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly sid: string;
  readonly idToken: string;
}

export interface LogoutNotice {
  readonly iss: string;
  /** At least one of the two is not empty. */
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly expiresAtMs: number;
}

const SCOPE = "openid email profile";
const TIMEOUT_S = 10;
/** OpenID Connect Back-Channel Logout 1.0, section 2.4. */
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** A notice is taken for as long as its clock may differ and a provider may repeat it. */
const NOTICE_AGE_S = 600;
const MAX_TEXT = 1000;
/** Longest subject: OpenID Connect Core 1.0, section 2. It and a session's name are parts of keys of the store. */
const MAX_IDENTIFIER = 255;
const MAX_ID_TOKEN = 16_384;

export class RelyingParty {
  readonly #provider: Once<Found>;

  /** @param settings called once, when somebody first signs in; again after a failure */
  constructor(settings: () => Promise<ProviderSettings>) {
    this.#provider = new Once(() => find(settings));
  }

  /** @returns where to send the browser. @throws WeirError `identity_unavailable` */
  async begin(
    redirectUri: string,
    hints: Readonly<Record<string, string>>,
  ): Promise<{ url: string; attempt: Attempt }> {
    const { config } = await this.#provider.get();
    const codeVerifier = client.randomPKCECodeVerifier();
    const attempt = { state: client.randomState(), nonce: client.randomNonce(), codeVerifier };
    const url = client.buildAuthorizationUrl(config, {
      ...hints,
      redirect_uri: redirectUri,
      scope: SCOPE,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, attempt };
  }

  /**
   * @param callback the address that the provider sent the browser to, with its query
   * @throws WeirError `invalid_value` where the answer is not the one to this attempt, `identity_unavailable`
   */
  async finish(callback: URL, { state, nonce, codeVerifier }: Attempt): Promise<Claims> {
    const { config, settings } = await this.#provider.get();
    const tokens = await client
      .authorizationCodeGrant(config, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        throw refusedBy(error);
      });
    const token = tokens.claims() as client.IDToken;
    if (token.sub.length > MAX_IDENTIFIER) {
      throw fail("invalid_value", "The identity provider names this person in more than 255 characters.");
    }
    const more = await profileOf(config, tokens.access_token, token);
    const idToken = tokens.id_token ?? "";
    return {
      iss: settings.storedIssuer ?? settings.issuer,
      sub: token.sub,
      email: text(more.email),
      isEmailVerified: more.email_verified === true || more.email_verified === "true",
      name: text(more.name) || text(more.preferred_username),
      amr: Array.isArray(token.amr) ? token.amr.slice(0, 20).map(text) : [],
      acr: text(token.acr),
      sid: identifier(token.sid),
      idToken: idToken.length <= MAX_ID_TOKEN ? idToken : "",
    };
  }

  /** Where the browser ends the provider's own session; undefined where the provider offers no such page or is away. */
  async logoutUrl(idToken: string, afterwards: string): Promise<string | undefined> {
    try {
      const { config, settings } = await this.#provider.get();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return client.buildEndSessionUrl(config, {
        client_id: settings.clientId,
        post_logout_redirect_uri: afterwards,
        ...(idToken !== "" && { id_token_hint: idToken }),
      }).href;
    } catch {
      return undefined;
    }
  }

  /** Checks a notice as Back-Channel Logout 1.0, section 2.6, says, but for `jti`. @throws WeirError `invalid_value`, `identity_unavailable` */
  async readNotice(token: string): Promise<LogoutNotice> {
    const { config, settings, keys } = await this.#provider.get();
    const { payload } = await jwtVerify(token, keys, {
      issuer: config.serverMetadata().issuer,
      audience: settings.clientId,
      maxTokenAge: NOTICE_AGE_S,
      requiredClaims: ["iat", "jti", "events"],
    }).catch((cause: unknown) => {
      if (isAway(cause)) throw away(cause);
      throw fail("invalid_value", "The logout token is not valid.", { param: "/logout_token", cause });
    });
    const events = payload.events as Record<string, unknown> | null;
    const sub = identifier(payload.sub);
    const sid = identifier(payload.sid);
    const jti = text(payload.jti);
    const isNotice = typeof events === "object" && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
    if (!isNotice || payload.nonce !== undefined || jti === "" || (sub === "" && sid === "")) {
      throw fail("invalid_value", "This token is no logout token.", { param: "/logout_token" });
    }
    return {
      iss: settings.storedIssuer ?? settings.issuer,
      sub,
      sid,
      jti,
      expiresAtMs: ((payload.iat ?? 0) + 2 * NOTICE_AGE_S) * 1000,
    };
  }
}

interface Found {
  readonly config: client.Configuration;
  readonly settings: ProviderSettings;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

async function find(read: () => Promise<ProviderSettings>): Promise<Found> {
  const settings = await read();
  const issuer = new URL(settings.issuer);
  // Without TLS only on this machine: the settings refuse any other issuer.
  const execute = issuer.protocol === "http:" ? [client.allowInsecureRequests] : [];
  try {
    const config = await client.discovery(issuer, settings.clientId, settings.clientSecret, undefined, {
      execute,
      timeout: TIMEOUT_S,
    });
    config.timeout = TIMEOUT_S;
    const { jwks_uri = "" } = config.serverMetadata();
    const keys = createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT_S * 1000 });
    return { config, settings, keys };
  } catch (error) {
    throw away(error);
  }
}

/** The ID token's claims; where it has no address, those of the userinfo endpoint as well. */
async function profileOf(
  config: client.Configuration,
  accessToken: string,
  token: client.IDToken,
): Promise<Readonly<Record<string, unknown>>> {
  if (token.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return token;
  try {
    return { ...token, ...(await client.fetchUserInfo(config, accessToken, token.sub)) };
  } catch (error) {
    throw refusedBy(error);
  }
}

/** The provider said no, its answer is not sound, or it is away. Its texts are for the log, not for the page. */
function refusedBy(error: unknown) {
  if (error instanceof client.AuthorizationResponseError) {
    return fail(
      "invalid_value",
      `The identity provider refused the sign-in: ${text(error.error).slice(0, 100)}.`,
    );
  }
  return isAway(error)
    ? away(error)
    : fail("invalid_value", "The sign-in could not be completed. Begin again at /auth/login.", {
        cause: error,
      });
}

/** What `openid-client` and `jose` call a time limit, and an answer that is no 200 where no other tells more. */
const AWAY_CODES: readonly unknown[] = ["OAUTH_TIMEOUT", "ERR_JWKS_TIMEOUT", "ERR_JOSE_GENERIC"];

/** No connection, no answer in time, or a failure of the provider's own: later it may work. */
function isAway(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  const { code, status, cause } = error as { code?: unknown; status?: unknown; cause?: { status?: unknown } };
  const answered = Number(status ?? cause?.status ?? 0);
  return AWAY_CODES.includes(code) || answered >= 500;
}

const away = (cause: unknown) =>
  fail("identity_unavailable", "The identity provider does not answer.", { retryAfterMs: 5000, cause });

/** Empty for what is too long, never a part of it: that could be the name of something else. */
const identifier = (value: unknown): string =>
  typeof value === "string" && value.length <= MAX_IDENTIFIER ? value : "";

const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, MAX_TEXT) : "");
