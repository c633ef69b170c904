/** A signed receipt as it came, a JWS in compact form, as what it states. Pure: the signature is not checked here. */
import type { CostLine } from "./cost-line.ts";

/** What a receipt states, as far as a page shows it. */
export interface Receipt {
  /** Address of the gateway that signed. */
  readonly iss: string;
  /** When it signed, Unix seconds. */
  readonly iat: number;
  readonly request_id: string;
  readonly key_id: string;
  readonly status: string;
  readonly model: string;
  readonly endpoint_id: string;
  readonly charged: boolean;
  readonly cost: { readonly total_micro_usd: number; readonly lines: readonly CostLine[] };
  readonly ledger?: { readonly seq: number; readonly amount_micro_usd: number; readonly created_at: string };
  readonly ended_at: string;
}

export interface SignedReceipt {
  readonly receipt: Receipt;
  /** Id of the key that signed. */
  readonly keyId: string;
}

/** @throws Error where it is no JWS in compact form */
export function readReceipt(jws: string): SignedReceipt {
  const [header = "", payload = ""] = jws.trim().split(".");
  const { kid } = read(header) as { kid: string };
  return { receipt: read(payload) as Receipt, keyId: kid };
}

function read(part: string): unknown {
  const bytes = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
}
