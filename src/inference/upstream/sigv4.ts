/**
 * AWS Signature Version 4 for Bedrock: computes the headers that authenticate a request.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import aws4 from "aws4";
import type { AwsKeys } from "../../base/endpoint.ts";

export type AwsCredential = Omit<AwsKeys, "kind">;

export interface SigningRequest {
  readonly method: string;
  /** As in the `Host` header: with its port unless that is the scheme's default. */
  readonly host: string;
  /** Path with query, already escaped (`:` of a model id as `%3A`). */
  readonly path: string;
  /** Alternating names and values. All are signed except those that proxies may change. */
  readonly headers: readonly string[];
  /** SHA-256 of the body in hex. */
  readonly bodyHash: string;
}

/** Headers that may change on the way, besides those the library excludes itself. */
const UNSIGNED: ReadonlySet<string> = new Set([
  "cache-control",
  "content-length",
  "from",
  "keep-alive",
  "max-forwards",
  "pragma",
  "proxy-authorization",
  "referer",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The request's headers and those of the signature, alternating names and values; `host` is signed but not included.
 * The signature covers the body: few AWS services accept `UNSIGNED-PAYLOAD`, and Bedrock does not.
 * @param date the provider accepts a signature for five minutes around it.
 */
export function signedHeaders(
  request: SigningRequest,
  credential: AwsCredential,
  region: string,
  service: string,
  date: Date,
): string[] {
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  const added: Record<string, string> = {
    "x-amz-date": date.toISOString().replace(/[-:]|\.\d{3}/g, ""),
    "x-amz-content-sha256": request.bodyHash,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const headers: Record<string, string> = { host: request.host };
  for (let i = 0; i + 1 < request.headers.length; i += 2) {
    const name = (request.headers[i] as string).toLowerCase();
    if (!UNSIGNED.has(name)) headers[name] = request.headers[i + 1] as string;
  }
  const signed = aws4.sign(
    { method: request.method, path: request.path, headers: { ...headers, ...added }, region, service },
    { accessKeyId, secretAccessKey },
  );
  added.authorization = String(signed.headers?.Authorization);
  return [...request.headers, ...Object.entries(added).flat()];
}
