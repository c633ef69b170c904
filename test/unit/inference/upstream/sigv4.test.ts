/** Signatures of AWS calls, held against AWS's own signer. */
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../../src/base/digest.ts";
import {
  type AwsCredential,
  type SigningRequest,
  signedHeaders,
} from "../../../../src/inference/upstream/sigv4.ts";

interface Asked extends Omit<SigningRequest, "bodyHash"> {
  /** What is sent, in order. */
  readonly body: readonly Uint8Array[];
}

type Signer = Parameters<typeof signedHeaders> extends [unknown, ...infer Rest] ? Rest : never;

const signed = ({ body, ...asked }: Asked, ...by: Signer): string[] =>
  signedHeaders({ ...asked, bodyHash: sha256(body) as string }, ...by);

const CREDENTIAL: AwsCredential = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCY",
};
const DATE = new Date("2026-11-20T08:09:10.123Z");

const CONVERSE: Asked = {
  method: "POST",
  host: "bedrock-runtime.eu-central-1.amazonaws.com",
  path: "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
  headers: ["content-type", "application/json", "user-agent", "weir", "accept-encoding", "identity"],
  body: [Buffer.from('{"messages":'), Buffer.from("[]}")],
};

const objectOf = (headers: readonly string[]): Record<string, string> => {
  const object: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2)
    object[(headers[i] as string).toLowerCase()] = headers[i + 1] as string;
  return object;
};

/** The same request, signed by AWS's own package. */
async function officially(
  { method, host, path, headers, body }: Asked,
  credential: AwsCredential,
  region: string,
  service: string,
  signingDate: Date,
): Promise<Record<string, string>> {
  const url = new URL(`https://${host}${path}`);
  const query = Object.fromEntries(url.searchParams);
  const signer = new SignatureV4({
    credentials: credential,
    region,
    service,
    sha256: Sha256,
    applyChecksum: true,
  });
  const signed = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: host,
      path: path.split("?", 1)[0] as string,
      query,
      headers: { ...objectOf(headers), host },
      body: Buffer.concat(body),
    },
    // The list of what neither of us signs differs by one name that is always on our requests' way.
    { signingDate, unsignableHeaders: new Set(["content-length"]) },
  );
  return signed.headers;
}

const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
/** None that the library treats apart, as it does S3. */
const service = word.map((name) => `bedrock${name}`);
const unescaped = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((s) => !/^\.+$/.test(s));
const encoded = unescaped.filter((text) => !(text in {})).map(encodeURIComponent);
const path = fc
  .tuple(
    fc.array(encoded, { minLength: 1, maxLength: 4 }),
    fc.uniqueArray(fc.tuple(encoded, encoded), { maxLength: 3, selector: ([name]) => name }),
  )
  .map(([segments, query]) => {
    const search = query.map(([name, value]) => `${name}=${value}`).join("&");
    return `/${segments.join("/")}${search === "" ? "" : `?${search}`}`;
  });
const header = fc.tuple(
  fc.constantFrom(
    "content-type",
    "accept",
    "X-Amz-Custom",
    "x-other",
    "user-agent",
    "content-length",
    "accept-encoding",
  ),
  fc.stringMatching(/^[ -~]{0,20}$/),
);
const request: fc.Arbitrary<Asked> = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT"),
  host: fc.constantFrom("bedrock-runtime.us-east-1.amazonaws.com", "localhost:8443", "vpce-1.example.com"),
  path,
  headers: fc
    .uniqueArray(header, { maxLength: 5, selector: ([name]) => name })
    .map((headers) => headers.flat()),
  body: fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 4 }),
});
const credential: fc.Arbitrary<AwsCredential> = fc
  .tuple(word, fc.string({ minLength: 1, maxLength: 40 }), fc.option(word, { nil: undefined }))
  .map(([accessKeyId, secretAccessKey, sessionToken]) => ({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
  }));

describe("a signed request", () => {
  test("has the signature that AWS's own package makes, whatever the request", async () => {
    const dates = fc.date({ min: new Date(0), max: new Date("2099-12-31"), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(
        request,
        credential,
        word,
        service,
        dates,
        async (asked, key, region, signingName, date) => {
          const ours = objectOf(signed(asked, key, region, signingName, date));
          const theirs = await officially(asked, key, region, signingName, date);
          expect(ours.authorization).toBe(theirs.authorization);
          expect(ours["x-amz-date"]).toBe(theirs["x-amz-date"]);
          expect(ours["x-amz-content-sha256"]).toBe(theirs["x-amz-content-sha256"]);
          expect(ours["x-amz-security-token"]).toBe(theirs["x-amz-security-token"]);
        },
      ),
      { numRuns: 300, seed: 4 },
    );
  });

  test("keeps its own headers as they are, in front", () => {
    const headers = signed(CONVERSE, CREDENTIAL, "eu-central-1", "bedrock", DATE);
    expect(headers.slice(0, CONVERSE.headers.length)).toEqual(CONVERSE.headers);
    expect(headers.length % 2).toBe(0);
    expect(objectOf(headers)).not.toHaveProperty("host");
  });

  test("covers the body: another body has another signature, however it is cut into parts", () => {
    const signatureOf = (...texts: string[]) => {
      const body = texts.map((text) => Buffer.from(text));
      return objectOf(signed({ ...CONVERSE, body }, CREDENTIAL, "eu-central-1", "bedrock", DATE))
        .authorization;
    };
    expect(signatureOf("abc", "def")).toBe(signatureOf("a", "", "bcdef"));
    expect(signatureOf("abcdef")).not.toBe(signatureOf("abcdeg"));
  });

  test("is of its own day: a key derived for one day does not sign the next", async () => {
    for (const day of ["2026-11-20", "2026-11-21"]) {
      const date = new Date(`${day}T00:00:00Z`);
      const ours = objectOf(signed(CONVERSE, CREDENTIAL, "eu-central-1", "bedrock", date));
      const theirs = await officially(CONVERSE, CREDENTIAL, "eu-central-1", "bedrock", date);
      expect(ours.authorization).toBe(theirs.authorization);
    }
  });

  test("names what it signed, and neither what proxies change nor the secret", () => {
    const given = { ...CONVERSE, headers: [...CONVERSE.headers, "content-length", "15"] };
    const temporary = { ...CREDENTIAL, sessionToken: "token" };
    const headers = objectOf(signed(given, temporary, "eu-central-1", "bedrock", DATE));
    expect(headers.authorization).toContain(
      "SignedHeaders=accept-encoding;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,",
    );
    expect(headers["x-amz-date"]).toBe("20261120T080910Z");
    expect(JSON.stringify(headers)).not.toContain(CREDENTIAL.secretAccessKey);
  });
});
