/** Why a provider gave no answer, as far as connections tell. What the system reports keeps its own code (`ECONNRESET`). */

/** No connection was made, so the provider has processed nothing of the request. `cause` is what the system reported. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  /** The system's or TLS's code, or `connect_timeout`. Where a proxy is the cause, `proxy_` and what it is: `proxy_407`. */
  readonly code: string;

  constructor(code: string, cause?: unknown) {
    super(`No connection to the provider (${code}).`, { cause });
    this.code = code;
  }
}

/** The answer is not HTTP/1.1, or could be read in more than one way. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  readonly code: ProtocolFault;

  constructor(code: ProtocolFault) {
    super(`The provider's answer breaks HTTP/1.1 (${code}).`);
    this.code = code;
  }
}

/** A proxy has no answer for us, though the provider may have processed the request. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  /** `proxy_` and the status of the proxy's answer. */
  readonly code: string;

  constructor(status: number) {
    super(`The proxy did not bring the provider's answer (${status}).`);
    this.code = `proxy_${status}`;
  }
}

export type ProtocolFault =
  | "invalid_head"
  | "head_too_large"
  | "unexpected_upgrade"
  | "invalid_content_length"
  | "invalid_transfer_encoding"
  | "invalid_chunk"
  | "invalid_trailer";

/** The provider closed the connection before its answer was complete. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";
  readonly code = "connection_closed";

  constructor() {
    super("The provider closed the connection.");
  }
}

/** The system's or the library's code of an error; "" if it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  // Happy Eyeballs collects one error per address.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return "";
}
