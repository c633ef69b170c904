/**
 * AWS Signature Version 4 for calls of Bedrock's: the headers that a request must carry so that the provider takes it.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import aws4 from "aws4";

export interface AwsCredential {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
}

export interface SigningRequest {
  readonly method: string;
  /** As it stands in the `Host` header: with its port where that is not the scheme's own. */
  readonly host: string;
  /** With its query; every character that a path must escape is escaped already (`:` of a model id as `%3A`). */
  readonly path: string;
  /** Names and values by turns. All are signed but those that proxies may change. */
  readonly headers: readonly string[];
  /** SHA-256 of the body in hex. */
  readonly bodyHash: string;
}

/** What may arrive otherwise than it was sent, besides what the library leaves out itself. */
const UNSIGNED: ReadonlySet<string> = new Set([
  ...[
    "cache-control",
    "content-length",
    "from",
    "keep-alive",
    "max-forwards",
    "pragma",
    "proxy-authorization",
  ],
  ...["referer", "te", "trailer", "transfer-encoding", "upgrade"],
]);

/**
 * The request's headers and those of the signature, names and values by turns; `host` is signed and not among them. The
 * signature covers the body: `UNSIGNED-PAYLOAD` is taken by few of AWS's services, and Bedrock is none of them.
 * @param date the provider takes a signature for five minutes around it.
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
