/**
 * `oidc-provider` as this identity provider needs it: code flow with PKCE only, claims in the ID token, no page of consent,
 * logout by redirect and by back channel. Everything that it would print a notice about is set.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { compactVerify } from "jose";
import {
  type Account,
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  Provider,
} from "oidc-provider";
import type { Clock } from "../../src/base/clock.ts";
import { expiringAdapters } from "./expiring-adapter.ts";
import { errorPage, signedOutPage, signOutPage } from "./pages.ts";
import type { People, Person } from "./people.ts";

/** An application that signs people in here. */
export interface IdentityClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  /** Is told when a session ends (OpenID Connect Back-Channel Logout 1.0); may be on loopback. */
  readonly backchannelLogoutUri?: string;
}

/** `acr` by how the person signed in: the profiles of REFEDS for single-factor and multi-factor authentication. */
export const ACR = {
  oneFactor: "https://refeds.org/profile/sfa",
  twoFactors: "https://refeds.org/profile/mfa",
} as const;

export interface OpenIdProviderDeps {
  readonly issuer: string;
  readonly clients: readonly IdentityClient[];
  readonly people: People;
  readonly clock: Clock;
  /** Called with each problem that no page shows to the person. */
  readonly report: (problem: string) => void;
  /** Ends calls to clients. */
  readonly closed: AbortSignal;
}

const SCOPES = ["openid", "email", "profile"];
const ALGORITHM = "ES256";
const HOUR_S = 3_600;
const SESSION_S = 12 * HOUR_S;
const END_SESSION_PATH = "/session/end";

export const interactionPath = (uid: string): string => `/interaction/${uid}`;

/** With new keys: tokens of an earlier start no longer verify. Serves nothing by itself; use its `callback()`. */
export function openIdProvider(deps: OpenIdProviderDeps): Provider {
  const { issuer, report } = deps;
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...keys.privateKey.export({ format: "jwk" }), alg: ALGORITHM, use: "sig" };
  const provider = new Provider(issuer, {
    ...configuration(deps),
    jwks: { keys: [jwk] as NonNullable<Configuration["jwks"]>["keys"] },
  });
  provider.use(async (ctx, next) => {
    const { id_token_hint: hint, ...rest } = ctx.query;
    // From before a restart. It only spares a question, and without it the logout still ends the session.
    const isStale = ctx.path === END_SESSION_PATH && typeof hint === "string" && !(await isSigned(hint));
    if (isStale) ctx.query = rest;
    try {
      await next();
    } catch (error) {
      report(`A request to the identity provider failed: ${error}`);
      throw error;
    }
  });
  const isSigned = (token: string): Promise<boolean> =>
    compactVerify(token, keys.publicKey).then(
      () => true,
      () => false,
    );
  provider.on("server_error", (_ctx, error) => report(`A request to the identity provider failed: ${error}`));
  provider.on("backchannel.error", (_ctx, error, client) =>
    report(`${client.clientId} could not be told of a logout: ${error}`),
  );
  // Or it prints those errors, and connections that break.
  provider.silent = true;
  return provider;
}

/**
 * The library would look at a client at somebody's first sign-in only.
 * @throws an Error that names the client that cannot be used
 */
export async function checkClients(provider: Provider, clients: readonly IdentityClient[]): Promise<void> {
  for (const { id } of clients) {
    await provider.Client.find(id).catch((cause: unknown) => {
      const why = cause instanceof errors.OIDCProviderError ? cause.error_description : String(cause);
      throw new Error(`The client "${id}" of the built-in identity provider cannot be used: ${why}.`, {
        cause,
      });
    });
  }
}

function configuration({ issuer, clients, people, clock, closed }: OpenIdProviderDeps): Configuration {
  const { port } = new URL(issuer);
  const policy = interactionPolicy.base();
  policy.remove("consent");
  return {
    adapter: expiringAdapters(clock),
    clients: clients.map(clientMetadata),
    acrValues: Object.values(ACR),
    scopes: SCOPES,
    responseTypes: ["code"],
    clientAuthMethods: ["client_secret_basic", "client_secret_post"],
    claims: { openid: ["sub", "amr", "acr"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
    clientBasedCORS: () => false,
    findAccount: (_ctx, sub) => accountOf(people.bySub(sub)),
    loadExistingGrant: grantOf,
    interactions: { policy, url: (_ctx, { uid }) => interactionPath(uid) },
    cookies: {
      keys: [randomBytes(32).toString("base64url")],
      // Cookies know no ports: two installations on one machine would take each other's.
      names: {
        session: `identity_${port}`,
        interaction: `identity_${port}_sign_in`,
        resume: `identity_${port}_resume`,
      },
    },
    ttl: {
      AccessToken: HOUR_S,
      AuthorizationCode: 60,
      IdToken: HOUR_S,
      Interaction: HOUR_S,
      Session: SESSION_S,
      Grant: SESSION_S,
    },
    routes: { end_session: END_SESSION_PATH },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = signOutPage(form);
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.type = "html";
          ctx.body = signedOutPage();
        },
      },
    },
    renderError: (ctx, { error, error_description }) => {
      ctx.type = "html";
      ctx.body = errorPage(error_description ?? error);
    },
    // The dispatcher that the library sets refuses loopback addresses, where the clients are. Only their URIs are called.
    fetch: (url, { dispatcher: _, signal, ...request } = {}) =>
      fetch(url, { ...request, signal: signal ? AbortSignal.any([signal, closed]) : closed }),
  };
}

const clientMetadata = (client: IdentityClient): ClientMetadata => ({
  client_id: client.id,
  client_secret: client.secret,
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...client.postLogoutRedirectUris],
  id_token_signed_response_alg: ALGORITHM,
  ...(client.backchannelLogoutUri !== undefined && {
    backchannel_logout_uri: client.backchannelLogoutUri,
    backchannel_logout_session_required: true,
  }),
});

const accountOf = (person: Person | undefined): Account | undefined =>
  person && {
    accountId: person.sub,
    claims: () => ({ sub: person.sub, email: person.email, email_verified: true, name: person.name }),
  };

/** Grants every scope that there is: the clients are this installation's own. */
const grantOf: NonNullable<Configuration["loadExistingGrant"]> = async ({ oidc }) => {
  const { client, session, account, provider } = oidc;
  if (client === undefined || session === undefined || account === undefined) return undefined;
  const id = session.grantIdFor(client.clientId);
  const known = id === undefined ? undefined : await provider.Grant.find(id);
  if (known?.accountId === account.accountId) return known;
  const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
  grant.addOIDCScope(SCOPES.join(" "));
  await grant.save();
  return grant;
};
