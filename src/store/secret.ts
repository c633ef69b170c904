/** A random secret of this installation, made once and kept: what cursors are authenticated with. */
import { randomBytes } from "node:crypto";
import type { Store } from "./store.ts";

/** 32 bytes, the same at every start on one data folder. */
export async function installationSecret(store: Store): Promise<Uint8Array> {
  const table = store.bytes("installation");
  const known = table.get("secret");
  if (known !== undefined) return known;
  const made = randomBytes(32);
  await store.act(() => table.put("secret", made));
  return made;
}
