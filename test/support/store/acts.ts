/** A store whose acts are looked at on their way. */
import type { Store } from "../../../src/store/store.ts";

/**
 * The same store, but for its acts. It is a class, whose methods a spread does not copy.
 * @param around runs an act, and does what else is to be done
 */
export const storeWithActs = (
  store: Store,
  around: <T>(act: () => Promise<T>) => Promise<T> = (act) => act(),
): Store => ({
  table: (name, versions) => store.table(name, versions),
  bytes: (name) => store.bytes(name),
  log: (name) => store.log(name),
  act: (act, options) => around(() => store.act(act, options)),
  ifDropped: (undo, a, b, c, d) => store.ifDropped(undo, a, b, c, d),
  healthy: () => store.healthy(),
  unsaved: () => store.unsaved(),
  caughtUp: () => store.caughtUp(),
  onClose: (ending) => store.onClose(ending),
  synced: () => store.synced(),
  forgetRemoved: () => store.forgetRemoved(),
  still: (act) => store.still(act),
  close: () => store.close(),
});
