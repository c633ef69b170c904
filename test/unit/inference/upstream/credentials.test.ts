/** Credentials that are made on the way: AWS signatures, Google access tokens; cancels and failures meanwhile. */
import { generateKeyPairSync } from "node:crypto";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../../../src/base/digest.ts";
import type { AwsKeys, ServiceAccount } from "../../../../src/base/endpoint.ts";
import { readProxyAddress } from "../../../../src/base/network/proxy-address.ts";
import { failure, mayFallBack, withoutCredential } from "../../../../src/inference/upstream/failure.ts";
import { signedHeaders } from "../../../../src/inference/upstream/sigv4.ts";
import { openUpstreams, type Upstreams } from "../../../../src/inference/upstream/upstreams.ts";
import { startForwardProxy } from "../../../support/proxy/forward-proxy.ts";
import {
  endpointAt,
  type GivenProvider,
  heard,
  plainCall,
  startProvider,
  type TestProvider,
} from "../../../support/upstream/fixtures.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const START_MS = Date.parse("2026-07-02T10:00:00Z");

let provider: TestProvider;
let upstreams: Upstreams;
let nowMs: number;

beforeEach(async () => {
  provider = await startProvider();
  nowMs = START_MS;
  upstreams = openUpstreams({
    connectTimeoutMs: 20_000,
    clock: { now: () => nowMs, monotonic: () => nowMs },
  });
});

afterEach(async () => {
  await upstreams.close();
  await provider.close();
});

describe("AWS", () => {
  const KEYS: AwsKeys = { kind: "aws_keys", accessKeyId: "AKIA1234", secretAccessKey: "hunter2-hunter2" };
  const auth = { scheme: "aws_sigv4", service: "bedrock", region: "eu-west-3" } as const;
  const at = (given: GivenProvider, region: string) =>
    endpointAt(
      { baseUrl: `${provider.url}/{region}`, auth, credential: KEYS, ...given },
      { region, upstreamModel: "a.b-v1:0" },
    );

  test("every call is signed for the endpoint's region, its body included", async () => {
    const endpoint = at({}, "us-east-1");
    const parts = [Buffer.from('{"a":'), Buffer.from("1}")];
    const call = { ...plainCall(endpoint, "converse", true), parts };
    const first = await heard((handler) => upstreams.call(call, handler));
    expect(first).toMatchObject({ status: 200, failure: undefined });
    const [asked] = provider.asked;
    expect(asked?.path).toBe("/us-east-1/model/a.b-v1%3A0/converse-stream");
    const signed = signedHeaders(
      {
        method: "POST",
        host: new URL(provider.url).host,
        path: "/us-east-1/model/a.b-v1%3A0/converse-stream",
        headers: [
          "content-type",
          "application/json",
          "user-agent",
          "weir",
          "accept-encoding",
          "identity",
          "accept",
          "application/vnd.amazon.eventstream",
        ],
        bodyHash: sha256(parts) as string,
      },
      KEYS,
      "us-east-1",
      "bedrock",
      new Date(START_MS),
    );
    expect(asked?.headers.authorization).toBe(signed[signed.indexOf("authorization") + 1]);
    expect(asked?.headers["x-amz-date"]).toBe("20260702T100000Z");
    nowMs += 60_000;
    await heard((handler) => upstreams.call(call, handler));
    expect(provider.asked[1]?.headers["x-amz-date"]).toBe("20260702T100100Z");
  });

  test("global is the operator's own region; a bearer token needs no signature", async () => {
    await heard((handler) => upstreams.call(plainCall(at({}, "global"), "converse"), handler));
    expect(provider.asked[0]?.path).toBe("/eu-west-3/model/a.b-v1%3A0/converse");
    expect(provider.asked[0]?.headers.authorization).toContain("/20260702/eu-west-3/bedrock/aws4_request");
    const bearer = at({ credential: "token" }, "global");
    await heard((handler) => upstreams.call(plainCall(bearer, "converse"), handler));
    expect(provider.asked[1]?.headers.authorization).toBe("Bearer token");
  });
});

describe("Google", () => {
  const account = (given: Partial<ServiceAccount> = {}): ServiceAccount => ({
    kind: "service_account",
    clientEmail: "weir@project.example",
    privateKey: PEM,
    privateKeyId: "kid1234",
    tokenUri: `${provider.url}/token`,
    ...given,
  });
  const at = (credential: ServiceAccount) =>
    endpointAt({ baseUrl: `${provider.url}/v1`, auth: { scheme: "google_oauth" }, credential });
  const tokensAsked = () => provider.asked.filter(({ path }) => path === "/token");
  /** Tokens are numbered as they are given out. */
  const giveTokens = (lifeS = 3600) => {
    provider.answer = ({ path, headers }, response) => {
      if (path !== "/token") response.end(headers.authorization);
      else response.end(JSON.stringify({ access_token: `t${tokensAsked().length}`, expires_in: lifeS }));
    };
  };
  const bearerOf = async (endpoint: ReturnType<typeof at>) =>
    (await heard((handler) => upstreams.call(plainCall(endpoint, "gemini"), handler))).body;

  test("a signed assertion is exchanged for a token", async () => {
    giveTokens();
    expect(await bearerOf(at(account()))).toBe("Bearer t1");
    const form = new URLSearchParams(tokensAsked()[0]?.body);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const assertion = form.get("assertion") ?? "";
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: "RS256", typ: "JWT", kid: "kid1234" });
    const { payload } = await jwtVerify(assertion, publicKey, {
      issuer: "weir@project.example",
      audience: `${provider.url}/token`,
      currentDate: new Date(START_MS),
    });
    expect(payload).toMatchObject({ iat: START_MS / 1000, exp: START_MS / 1000 + 3600 });
    expect(payload.scope).toBe("https://www.googleapis.com/auth/cloud-platform");
  });

  test("a token is asked for by the provider's proxy, as its calls are", async () => {
    giveTokens();
    const proxy = await startForwardProxy();
    const { provider: own, ...endpoint } = at(account());
    const proxied = { ...endpoint, provider: { ...own, proxy: readProxyAddress(proxy.url) } };
    expect(await bearerOf(proxied)).toBe("Bearer t1");
    expect(proxy.asked).toEqual([
      `POST ${provider.url}/token`,
      expect.stringMatching(`^POST ${provider.url}/v1/`),
    ]);
    await proxy.close();
  });

  test("one refresh serves all callers, and its token all calls until shortly before its end", async () => {
    giveTokens();
    const endpoint = at(account());
    const all = await Promise.all(Array.from({ length: 20 }, () => bearerOf(endpoint)));
    expect(new Set(all)).toEqual(new Set(["Bearer t1"]));
    nowMs += 3600_000 - 120_001;
    expect(await bearerOf(endpoint)).toBe("Bearer t1");
    nowMs += 1;
    expect(await bearerOf(endpoint)).toBe("Bearer t2");
    expect(tokensAsked()).toHaveLength(2);
  });

  test("a refusal fails the call with class auth, allows another endpoint, and is retried by the next call", async () => {
    provider.answer = (_, response) => response.writeHead(401).end('{"error":"invalid_grant"}');
    const endpoint = at(account());
    const call = () => heard((handler) => upstreams.call(plainCall(endpoint, "gemini"), handler));
    const { failure: failed } = await call();
    expect(failed).toMatchObject({
      errorClass: "auth",
      httpStatus: 0,
      upstream: { code: "no_access_token" },
    });
    expect(failed !== undefined && mayFallBack(failed)).toBe(true);
    giveTokens();
    expect((await call()).body).toBe("Bearer t2");
  });

  test.each([
    ["no JSON", "<html>"],
    ["no token", '{"expires_in":3600}'],
    ["a token that is no header", '{"access_token":"a\\nb","expires_in":3600}'],
  ])("an answer with %s is a failure too", async (_, body) => {
    provider.answer = (_asked, response) => response.end(body);
    const call = plainCall(at(account()), "gemini");
    expect((await heard((handler) => upstreams.call(call, handler))).failure?.errorClass).toBe("auth");
  });

  test("T61: a key that cannot be read is not quoted", async () => {
    const call = plainCall(at(account({ privateKey: "-----BEGIN hunter2" })), "gemini");
    const { failure: failed } = await heard((handler) => upstreams.call(call, handler));
    expect(failed?.errorClass).toBe("auth");
    expect(JSON.stringify(failed)).not.toContain("hunter2");
  });

  test("T16: a call cancelled while its token is fetched is never sent, and tells nothing more", async () => {
    const told: string[] = [];
    const tell = (what: string) => () => told.push(what);
    const handler = {
      onHead: tell("head"),
      onData: tell("data"),
      onEnd: tell("end"),
      onFailure: tell("failed"),
    };
    const endpoint = at(account());
    const cancelled = new Promise<void>((resolve) => {
      provider.answer = (_, response) => {
        call.cancel();
        giveTokens();
        response.end('{"access_token":"t","expires_in":3600}');
        resolve();
      };
    });
    const call = upstreams.call(plainCall(endpoint, "gemini"), handler);
    await cancelled;
    // The next call waits for the same token: once it is over, the cancelled one has had its turn.
    expect(await bearerOf(endpoint)).toBe("Bearer t");
    expect(told).toEqual([]);
    expect(provider.asked.map(({ path }) => path)).toEqual(["/token", "/v1/models/e:generateContent"]);
  });
});

test("T61: every part of a credential is taken out of what a provider says", () => {
  const said = { code: "", type: "", message: "AKIA1234 and hunter2-hunter2 and session-1" };
  const failed = failure("http_error", "server", 500, said);
  const credential: AwsKeys = {
    kind: "aws_keys",
    accessKeyId: "AKIA1234",
    secretAccessKey: "hunter2-hunter2",
    sessionToken: "session-1",
  };
  expect(withoutCredential(failed, credential).upstream.message).toBe(
    "[credential] and [credential] and [credential]",
  );
  const said401 = { code: "bad hunter2-hunter2", type: "x", message: "you sent hunter2-hu…" };
  expect(withoutCredential(failure("http_error", "auth", 401, said401), credential).upstream).toEqual({
    code: "bad [credential]",
    type: "x",
    message: "",
  });
});
