/** Why a call to a tenant's URL has no answer, in words that name no address. */
import { codeOf } from "../base/file-errors.ts";

/**
 * `refused_address`: the gateway does not call it. `busy`, `closed`: the gateway's own state, which says nothing of the
 * receiver. `cancelled`: its caller ended it. The others are what happened on the way, in this order: name, TCP, TLS, answer.
 */
export type OutboundFailure =
  | "refused_address"
  | "busy"
  | "closed"
  | "cancelled"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "reset"
  | "protocol";

/** All that is shown of a call to an address that is not public: more would tell of a network that is not the tenant's. */
const NOT_SHOWN = "There was no valid answer. No more is shown of an address that is not public.";

const SENTENCES: Readonly<Record<OutboundFailure, string>> = {
  refused_address: "Calls to the address of this host are not allowed",
  busy: "The gateway has too many calls under way",
  closed: "The gateway is stopping",
  cancelled: "The call is not needed any more",
  dns: "The name of the host could not be looked up",
  connect: "No connection could be made",
  tls: "No secure connection could be made",
  timeout: "There was no complete answer in time",
  reset: "The connection was closed before the answer was complete",
  protocol: "The answer is not valid HTTP/1.1",
};

export interface OutboundErrorExtras {
  /** What the system or a library reported, such as `ECONNREFUSED`; added to the sentence. */
  readonly code?: string;
  /** Instead of the sentence for this kind of failure. */
  readonly message?: string;
  readonly cause?: unknown;
  readonly isShown?: boolean;
}

/** The cause is never shown to the tenant. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly kind: OutboundFailure;
  /** Whether the tenant may see the message, and how long the call took. */
  readonly isShown: boolean;

  constructor(
    kind: OutboundFailure,
    { code = "", message, cause, isShown = true }: OutboundErrorExtras = {},
  ) {
    const ending = /^[A-Z\d_]{1,60}$/.test(code) ? ` (${code}).` : ".";
    super(message ?? SENTENCES[kind] + ending, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.isShown = isShown;
  }

  /** What the tenant may read. */
  get shownMessage(): string {
    return this.isShown ? this.message : NOT_SHOWN;
  }
}

const NOT_OF_RECEIVER: ReadonlySet<OutboundFailure> = new Set([
  "busy",
  "closed",
  "cancelled",
  "refused_address",
]);

/** The same failure, of a call to an address that is not public. */
export function unshown(failure: OutboundError): OutboundError {
  const { kind, message } = failure;
  if (NOT_OF_RECEIVER.has(kind)) return failure;
  return new OutboundError(kind, { message, cause: failure, isShown: false });
}

/** How far a connection has come. */
export type Phase = "connecting" | "handshake" | "open";

/** The gateway's own want of descriptors or memory. */
const OWN_CODES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/** What Node reports of a request, by how far its connection had come. */
export function failureOf(error: unknown, phase: Phase): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  const kind = kindOf(code, phase);
  // Which of the two ends noticed it first is chance.
  return new OutboundError(kind, { code: kind === "reset" ? "" : code, cause: error });
}

function kindOf(code: string, phase: Phase): OutboundFailure {
  if (OWN_CODES.has(code)) return "busy";
  if (phase === "connecting") return "connect";
  // A server may refuse after the handshake what was said in it (TLS 1.3).
  if (phase === "handshake" || code.startsWith("ERR_SSL_")) return "tls";
  return code.startsWith("HPE_") ? "protocol" : "reset";
}
