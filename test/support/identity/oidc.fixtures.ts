/**
 * An identity provider that says whatever a test wants of whoever comes: it asks nobody anything. And a browser's way through a
 * sign-in with it, step by step.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type TestGateway, testGateway } from "../gateway.ts";
import { type HttpAnswer, httpCall } from "../http-client.ts";

export const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

export interface TestProvider {
  readonly issuer: string;
  /** The gateway's settings for it. */
  readonly env: Readonly<Record<string, string>>;
  /** Claims of the next ID token, besides `iss`, `aud`, times and `nonce`. */
  claims: Readonly<Record<string, unknown>>;
  /** By the code of a sign-in, instead of `claims`: for people who sign in at the same time. */
  readonly claimsOfCode: Map<string, Readonly<Record<string, unknown>>>;
  /** Status of the next answers of the token endpoint. */
  tokenStatus: number;
  /** And of that of its keys. */
  keysStatus: number;
  /** @param differing undefined takes a claim away; `key` signs instead of the provider's own */
  logoutToken(differing: Readonly<Record<string, unknown>>, key?: CryptoKey): Promise<string>;
  /** Ends and begins to listen, always on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const CLIENT = { id: "weir", secret: "a secret of the gateway" };

export async function startTestProvider(): Promise<TestProvider> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  const nonces = new Map<string, string>();
  let server: Server;
  let port = 0;
  let codes = 0;
  const issuer = () => `http://127.0.0.1:${port}`;
  const sign = (claims: Readonly<Record<string, unknown>>, key = privateKey) =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(key);
  const nowS = () => Math.floor(Date.now() / 1000);

  async function answer(request: IncomingMessage): Promise<[number, object | string]> {
    const url = new URL(request.url ?? "", issuer());
    if (url.pathname === "/.well-known/openid-configuration") return [200, metadata(issuer())];
    if (url.pathname === "/jwks")
      return [provider.keysStatus, { keys: [{ ...jwk, kid, alg: "ES256", use: "sig" }] }];
    if (url.pathname === "/authorize") {
      const code = `code-${++codes}`;
      nonces.set(code, url.searchParams.get("nonce") ?? "");
      const back = new URL(url.searchParams.get("redirect_uri") ?? "");
      back.search = `${new URLSearchParams({ code, state: url.searchParams.get("state") ?? "" })}`;
      return [303, back.href];
    }
    const code = new URLSearchParams(await text(request)).get("code") ?? "";
    if (provider.tokenStatus !== 200) return [provider.tokenStatus, "<p>not now</p>"];
    const nonce = nonces.get(code);
    if (nonce === undefined) return [400, { error: "invalid_grant" }];
    nonces.delete(code);
    const times = { iat: nowS(), exp: nowS() + 300 };
    const claims = provider.claimsOfCode.get(code) ?? provider.claims;
    const idToken = await sign({ iss: issuer(), aud: CLIENT.id, ...times, nonce, ...claims });
    return [200, { access_token: "an access token", token_type: "bearer", id_token: idToken }];
  }

  const provider = {
    get issuer() {
      return issuer();
    },
    get env() {
      return { OIDC_ISSUER: issuer(), OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
    },
    claims: {},
    claimsOfCode: new Map<string, Readonly<Record<string, unknown>>>(),
    tokenStatus: 200,
    keysStatus: 200,
    logoutToken(differing: Readonly<Record<string, unknown>>, key?: CryptoKey) {
      const usual = { iss: issuer(), aud: CLIENT.id, iat: nowS(), jti: `jti-${++codes}` };
      return sign({ ...usual, events: { [LOGOUT_EVENT]: {} }, ...differing }, key);
    },
    async start() {
      server = createServer(async (request, response) => {
        const [status, body] = await answer(request);
        const isRedirect = status === 303;
        const type = typeof body === "string" ? "text/html" : "application/json";
        response.writeHead(status, isRedirect ? { location: body as string } : { "content-type": type });
        response.end(isRedirect ? "" : typeof body === "string" ? body : JSON.stringify(body));
      });
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  await provider.start();
  return provider;
}

const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  end_session_endpoint: `${issuer}/end`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["ES256"],
});

/** `name=value` of the cookies that an answer sets and does not end, for a `Cookie` header. */
export const cookiesOf = ({ headers }: HttpAnswer): string =>
  headers
    .getSetCookie()
    .filter((line) => !/max-age=0/i.test(line))
    .map((line) => line.slice(0, line.indexOf(";")))
    .join("; ");

export interface Begun {
  /** The answer of `/auth/login`. */
  readonly login: HttpAnswer;
  /** `Cookie` header of the browser. */
  readonly cookie: string;
  /** Path and query of the way back. */
  readonly callback: string;
}

/** A sign-in up to the way back from the provider. @param headers of the request to the gateway */
export async function begin(
  url: string,
  query: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Begun> {
  const login = await called("GET", `${url}/auth/login?${new URLSearchParams(query)}`, headers);
  const away = login.headers.get("location");
  if (away === null) throw new Error(`no sign-in began: ${login.status} ${login.text}`);
  const back = new URL((await called("GET", away)).headers.get("location") ?? "");
  return { login, cookie: cookiesOf(login), callback: `${back.pathname}${back.search}` };
}

export const finish = (url: string, { cookie, callback }: Begun): Promise<HttpAnswer> =>
  called("GET", `${url}${callback}`, { cookie });

/** A whole sign-in. @returns the session as a `Cookie` header, empty where there is none */
export async function signInBy(url: string, query: Readonly<Record<string, string>> = {}) {
  const answer = await finish(url, await begin(url, query));
  return { answer, cookie: cookiesOf(answer) };
}

export async function called(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<HttpAnswer> {
  const answer = await httpCall(method, url, { headers, ...(body !== undefined && { body }) });
  if (answer === undefined) throw new Error(`${method} ${url} was not answered`);
  return answer;
}

/** What a provider says of somebody. */
export const personOf = (sub: string, isVerified = true) => ({
  sub,
  email: `${sub}@example.com`,
  email_verified: isVerified,
});

/** Status and error code. */
export const codeOf = ({ status, text }: HttpAnswer) => [
  status,
  text === "" ? "" : JSON.parse(text).error?.code,
];

/**
 * A gateway that signs people in at a test provider, for all tests of a file; its owner has signed in, and each test begins as
 * `ada`. Call it at the top of the file.
 */
export function oidcRig() {
  let provider: TestProvider | undefined;
  let gateway: TestGateway | undefined;
  const opened = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error("the tests have not begun");
    return part;
  };
  const rig = {
    get provider(): TestProvider {
      return opened(provider);
    },
    get gateway(): TestGateway {
      return opened(gateway);
    },
    /** Status and answer of `/auth/me` with a session. */
    async me(cookie: string) {
      const { status, text } = await called("GET", `${rig.gateway.url}/auth/me`, { cookie });
      return { status, json: JSON.parse(text) };
    },
  };
  beforeAll(async () => {
    provider = await startTestProvider();
    gateway = await testGateway({ env: provider.env });
    provider.claims = personOf("owner");
    await signInBy(gateway.url);
  });
  beforeEach(() => {
    rig.provider.claims = personOf("ada");
  });
  afterAll(async () => {
    await gateway?.stop();
    await provider?.stop();
  });
  return rig;
}
