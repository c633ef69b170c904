/** Rotation: a new key with the same settings, and for how long the old one works on. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import type { Key } from "./key-values.ts";
import { GRACES } from "./key-words.ts";
import { showSecret } from "./secret.tsx";

interface RotateProps {
  readonly shownKey: Key;
  readonly onClose: () => void;
}

export function Rotate({ shownKey, onClose }: RotateProps) {
  const [grace, setGrace] = useState("86400");
  const act = useAct();
  const rotate = () =>
    act.run(async () => {
      const body = { grace_seconds: Number(grace) };
      const { id, name, secret } = await call("rotateKey", { params: { id: shownKey.id }, body });
      showSecret({ id, name, secret, about: aboutOld(shownKey.hint, grace) });
      onClose();
      go(pageAddress(orgSlug.value, ["keys", id]));
    });
  return (
    <Dialog title={`Rotate "${shownKey.name}"?`} onClose={onClose}>
      <p>
        A new key takes its place, with the same settings, budget and limits. Give programs the new secret
        while the old key still works.
      </p>
      <Choice label="The old key works on" value={grace} onValue={setGrace} options={GRACES} />
      <FaultNote fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="main" isBusy={act.isBusy} onClick={rotate}>
          Rotate key
        </Button>
      </div>
    </Dialog>
  );
}

function aboutOld(hint: string, grace: string): string {
  const words = GRACES.find(([seconds]) => seconds === grace)?.[1].toLowerCase() ?? "";
  return grace === "0"
    ? `The old secret, ${hint}, works no more.`
    : `The old secret, ${hint}, works on ${words}.`;
}
