/** Asks before a key is revoked, by its name. */
import { call } from "../../api/call.ts";
import { Confirm } from "../../parts/dialog.tsx";
import type { Key } from "./key-values.ts";

interface RevokeProps {
  readonly shownKey: Key;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

export const Revoke = ({ shownKey, onClose, onRevoked }: RevokeProps) => (
  <Confirm
    title={`Revoke "${shownKey.name}"?`}
    act="Revoke key"
    onClose={onClose}
    onAct={async () => {
      await call("revokeKey", { params: { id: shownKey.id } });
      onRevoked();
    }}
  >
    Calls with <code>{shownKey.hint}</code> are refused from the next one on. This cannot be undone.
  </Confirm>
);
