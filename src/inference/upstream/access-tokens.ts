/**
 * Access tokens of Google service accounts: a signed assertion (RFC 7523) is exchanged for a token that lasts about an
 * hour. One refresh at a time for all callers; failures are not cached, so the next call tries again. Source:
 * developers.google.com/identity/protocols/oauth2/service-account
 */
import type { Clock } from "../../base/clock.ts";
import type { Provider, ServiceAccount } from "../../base/endpoint.ts";
import { jsonIn } from "../../base/json.ts";
import type { Answer } from "./ask.ts";

export interface AccessTokens {
  /**
   * @param proxy the provider's own: the token is asked for on the way that its calls go
   * @throws Error where no token could be had; its message contains no secret.
   */
  of(account: ServiceAccount, proxy?: Provider["proxy"]): Promise<string>;
}

/** Sends a form to a URL, by a provider's own proxy where it has one. */
type PostForm = (url: URL, form: string, proxy: Provider["proxy"]) => Promise<Answer>;

interface CachedToken {
  readonly token: string;
  /** Monotonic. */
  readonly untilMs: number;
}

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_S = 3_600;
/** A token is not used this close to its expiry: it must stay valid for the whole call. */
const MARGIN_MS = 120_000;

export function openAccessTokens(postForm: PostForm, clock: Clock): AccessTokens {
  const held = new WeakMap<ServiceAccount, CachedToken>();
  const asked = new WeakMap<ServiceAccount, Promise<string>>();

  const refresh = async (account: ServiceAccount, proxy: Provider["proxy"]): Promise<string> => {
    const fresh = await fetchToken(account, (url, form) => postForm(url, form, proxy), clock);
    held.set(account, fresh);
    return fresh.token;
  };

  return {
    async of(account, proxy) {
      const known = held.get(account);
      if (known !== undefined && clock.monotonic() < known.untilMs) return known.token;
      let asking = asked.get(account);
      if (asking === undefined) {
        asking = refresh(account, proxy).finally(() => asked.delete(account));
        asked.set(account, asking);
      }
      return asking;
    },
  };
}

async function fetchToken(
  account: ServiceAccount,
  post: (url: URL, form: string) => Promise<Answer>,
  clock: Clock,
): Promise<CachedToken> {
  const askedMs = clock.monotonic();
  const assertion = await assertionOf(account, Math.floor(clock.now() / 1000));
  const form = new URLSearchParams({ grant_type: GRANT, assertion }).toString();
  const { status, body } = await post(new URL(account.tokenUri), form);
  if (status !== 200) throw new Error(`the token endpoint answered ${status}`);
  const { access_token: token, expires_in: lifeS } = membersOf(body.toString());
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw new Error("no access token in the answer");
  const lifeMs = typeof lifeS === "number" && lifeS > 0 ? lifeS * 1000 : 0;
  return { token, untilMs: askedMs + lifeMs - MARGIN_MS };
}

/** Loaded at the first use: few gateways have such accounts, and it is 46 files. */
const jose = () => import("jose");

async function assertionOf(account: ServiceAccount, nowS: number): Promise<string> {
  const { SignJWT } = await jose();
  const key = await privateKeyOf(account);
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: account.privateKeyId })
    .setIssuer(account.clientEmail)
    .setAudience(account.tokenUri)
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + ASSERTION_S)
    .sign(key);
}

/** The library's own messages may quote the key. */
async function privateKeyOf({ privateKey }: ServiceAccount) {
  try {
    const { importPKCS8 } = await jose();
    return await importPKCS8(privateKey, "RS256");
  } catch {
    throw new Error("the service account's private key cannot be read");
  }
}

function membersOf(text: string): { access_token?: unknown; expires_in?: unknown } {
  const value = jsonIn(text);
  return typeof value === "object" && value !== null ? value : {};
}
