/** The port of invoice registration portals: what the gateway asks of the government's, of a service provider's, or of the simulated one. */
import type { EInvoicePayload } from "./e-invoice.ts";

export interface Registration {
  /** Invoice reference number: 64 hexadecimal digits. */
  readonly irn: string;
  readonly ackNumber: string;
  /** Wall clock. */
  readonly ackAtMs: number;
  /** A JWS of the portal, printed as a QR code. */
  readonly signedQr: string;
}

export interface EInvoicePortal {
  /** Registers a document. Asked twice for one number it answers the first registration. @throws PortalError */
  register(payload: EInvoicePayload, signal: AbortSignal): Promise<Registration>;
}

/**
 * `invalid`: the portal refused the document, and will again. `unclear`: it may have registered it; asked again, it says so.
 * `refused`: it does not serve us at present.
 */
export class PortalError extends Error {
  override readonly name = "PortalError";
  readonly kind: "invalid" | "unclear" | "refused";

  /** @param message for operators: holds no secret */
  constructor(kind: PortalError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
