/** Keys of a pool over a real socket: each call carries its own and no other; and what is told of a key is not the key. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AwsKeys, Credential, ProviderKey, ServiceAccount } from "../../../../src/base/endpoint.ts";
import { hintOf, ownKey, platformKey } from "../../../../src/base/provider-key.ts";
import { openUpstreams, type Upstreams } from "../../../../src/inference/upstream/upstreams.ts";
import {
  endpointAt,
  heard,
  plainCall,
  startProvider,
  type TestProvider,
} from "../../../support/upstream/fixtures.ts";

const AWS: AwsKeys = { kind: "aws_keys", accessKeyId: "AKIA12345678", secretAccessKey: "hunter2-hunter2" };
const ACCOUNT: ServiceAccount = {
  kind: "service_account",
  clientEmail: "weir@project.example",
  privateKey: "-----BEGIN hunter2",
  privateKeyId: "0123456789",
  tokenUri: "https://oauth2.googleapis.com/token",
};

describe("calls", () => {
  let provider: TestProvider;
  let upstreams: Upstreams;

  beforeEach(async () => {
    provider = await startProvider();
    upstreams = openUpstreams({ connectTimeoutMs: 20_000 });
  });

  afterEach(async () => {
    await upstreams.close();
    await provider.close();
  });

  const call = async (endpoint: ReturnType<typeof endpointAt>, key: ProviderKey) => {
    const { failure } = await heard((handler) =>
      upstreams.call({ ...plainCall(endpoint, "chat"), key }, handler),
    );
    expect(failure).toBeUndefined();
    return provider.asked.at(-1);
  };

  test("carry the key that they are given, in any order, and never another's", async () => {
    const endpoint = endpointAt({ baseUrl: `${provider.url}/v1`, credential: "sk-platform-1" });
    const [one] = endpoint.provider.keys as [ProviderKey];
    const two = platformKey("p", 2, "sk-platform-2");
    const own = ownKey("pk_1", "p", "sk-of-an-org");
    for (const key of [one, two, own, two, one, own]) {
      const asked = await call(endpoint, key);
      expect(asked?.headers.authorization).toBe(`Bearer ${String(key.credential)}`);
      const others = [one, two, own].filter((k) => k !== key);
      for (const other of others) expect(JSON.stringify(asked)).not.toContain(String(other.credential));
    }
  });

  test("of one key go to each endpoint's own address", async () => {
    const key = ownKey("pk_1", "p", "sk-of-an-org");
    const at = (path: string) => endpointAt({ baseUrl: `${provider.url}/${path}` });
    const [a, b] = [at("a"), at("b")];
    const paths = [];
    for (const endpoint of [a, b, a]) paths.push((await call(endpoint, key))?.path);
    expect(paths).toEqual(["/a/chat/completions", "/b/chat/completions", "/a/chat/completions"]);
  });

  test("of one pool may differ in kind: AWS keys sign, a bearer token is sent unchanged", async () => {
    const auth = { scheme: "aws_sigv4", service: "bedrock", region: "eu-west-1" } as const;
    const endpoint = endpointAt({ baseUrl: provider.url, auth, credential: AWS });
    const [signing] = endpoint.provider.keys as [ProviderKey];
    expect((await call(endpoint, signing))?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIA12345678\//,
    );
    const bearer = await call(endpoint, platformKey("p", 2, "bedrock-token"));
    expect(bearer?.headers.authorization).toBe("Bearer bedrock-token");
  });

  test("small requests carry their key too", async () => {
    const endpoint = endpointAt({ baseUrl: `${provider.url}/v1`, credential: "sk-platform-1" });
    const key = ownKey("pk_1", "p", "sk-of-an-org");
    await upstreams.ask({ ...plainCall(endpoint, "messages"), key, act: "count", timeoutMs: 20_000 });
    expect(provider.asked[0]?.headers.authorization).toBe("Bearer sk-of-an-org");
  });
});

describe("a key", () => {
  test("has the pool id and hint that records contain", () => {
    expect({ ...platformKey("acme", 3, "sk-abcd-1234") }).toEqual({
      id: "acme/3",
      poolId: "pool_acme",
      hint: "1234",
      isByok: false,
    });
    expect({ ...ownKey("pk_1", "acme", AWS) }).toEqual({
      id: "pk_1",
      poolId: "byok_acme",
      hint: "5678",
      isByok: true,
    });
  });

  test.each<[string, Credential | undefined, string]>([
    ["of a string is its end", "sk-abcd-1234", "1234"],
    ["of AWS keys is of the one that is no secret", AWS, "5678"],
    ["of a service account is of its key's id", ACCOUNT, "6789"],
    ["of a short one would give half of it away", "1234567", ""],
    ["of none is none", undefined, ""],
  ])("hint %s", (_, credential, hint) => {
    expect(hintOf(credential)).toBe(hint);
  });

  test.each<Credential>(["sk-hunter2-hunter2", AWS, ACCOUNT])(
    "T61: is shown by no serialiser (%#)",
    (credential) => {
      for (const key of [platformKey("acme", 1, credential), ownKey("pk_1", "acme", credential)]) {
        expect(key.credential).toBe(credential);
        for (const shown of [JSON.stringify(key), inspect(key), JSON.stringify({ ...key }), String(key)]) {
          expect(shown).not.toMatch(/hunter2|AKIA/);
        }
      }
    },
  );
});
