/** Receipts over the open rooms: the record of the call, the org's ledger, and keys under the installation's master key. */
import type { Logger } from "pino";
import { openVault } from "../../account/provider-keys/vault.ts";
import type { Clock } from "../../base/clock.ts";
import type { Installation } from "../../store/installation/installation.ts";
import type { Store } from "../../store/store.ts";
import { ReceiptKeys } from "./keys.ts";

export interface ReceiptPorts {
  /** Where the gateway is reached, if that is set. */
  readonly publicUrl: string | undefined;
  /** Where it listens. */
  readonly host: string;
  readonly log: Logger;
  readonly store: Store;
  readonly clock: Clock;
  readonly installation: Installation;
}

export interface Receipts {
  readonly keys: ReceiptKeys;
  /** The address by which receipts name this gateway. */
  issuer(): string;
  /** Makes the key at the first start. @param port where the gateway listens */
  listensAt(port: number): void;
}

/** Opens the room; its key is made with the first receipt, or when the keys are first asked for. */
export function openReceipts({ publicUrl, host, log, store, clock, installation }: ReceiptPorts): Receipts {
  const keys = new ReceiptKeys({
    store,
    clock,
    vault: openVault(installation),
    onNotice: (line) => log.warn(line),
  });
  let port = 0;
  return {
    keys,
    issuer: () => publicUrl ?? `http://${host === "::1" ? "[::1]" : "127.0.0.1"}:${port}`,
    listensAt(at: number): void {
      port = at;
      keys.signer().catch((err: unknown) => log.warn({ err }, "the key for receipts could not be made yet"));
    },
  };
}
