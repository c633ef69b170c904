/** How long an access token is used, whatever is done to the wall clock. */
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { ServiceAccount } from "../../../../src/base/endpoint.ts";
import { openAccessTokens } from "../../../../src/inference/upstream/access-tokens.ts";
import type { Answer } from "../../../../src/inference/upstream/ask.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ACCOUNT: ServiceAccount = {
  kind: "service_account",
  clientEmail: "a@b",
  privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  privateKeyId: "k",
  tokenUri: "https://oauth2.googleapis.com/token",
};

test("a wall clock that is set back does not keep a token beyond its end", async () => {
  const time = { wallMs: Date.parse("2026-03-01T12:00:00Z"), monotonicMs: 0 };
  let given = 0;
  const post = async (): Promise<Answer> => ({
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ access_token: `token-${++given}`, expires_in: 3600 })),
  });
  const tokens = openAccessTokens(post, { now: () => time.wallMs, monotonic: () => time.monotonicMs });
  expect(await tokens.of(ACCOUNT)).toBe("token-1");
  time.wallMs -= 7_200_000;
  time.monotonicMs += 3_000_000;
  expect(await tokens.of(ACCOUNT)).toBe("token-1");
  time.monotonicMs += 600_000;
  expect(await tokens.of(ACCOUNT)).toBe("token-2");
});
