/** Receipts over the open rooms: the record of the call, the org's ledger, and keys under the installation's master key. */
import type { Logger } from "pino";
import { openVault } from "../../account/provider-keys/vault.ts";
import type { Clock } from "../../base/clock.ts";
import { ReceiptKeys } from "../../billing/receipts/keys.ts";
import type { Installation } from "../../store/installation/installation.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";

interface ReceiptGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly installation: Installation;
}

/** Opens the room; its key is made with the first receipt, or when the keys are first asked for. */
export function openReceipts(
  config: Pick<Config, "publicUrl" | "host">,
  log: Logger,
  { store, clock, installation }: ReceiptGround,
) {
  const keys = new ReceiptKeys({
    store,
    clock,
    vault: openVault(installation),
    onNotice: (line) => log.warn(line),
  });
  let port = 0;
  return {
    keys,
    issuer: () => config.publicUrl ?? `http://${config.host === "::1" ? "[::1]" : "127.0.0.1"}:${port}`,
    /** Makes the key at the first start. */
    listensAt(at: number): void {
      port = at;
      keys.signer().catch((err: unknown) => log.warn({ err }, "the key for receipts could not be made yet"));
    },
  };
}
