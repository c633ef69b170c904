/**
 * A secret of a directory or of an analyst is shown once. Its dialog closes by its own button alone, and it is kept in memory until the
 * person says that they have stored it: neither Escape, a click beside it nor another page loses it. The browser asks before it leaves.
 */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Note } from "../../parts/note.tsx";

interface ShownOnce {
  readonly title: string;
  readonly secret: string;
  /** What it is, for the button that copies it: "token". */
  readonly what: string;
  readonly about: ComponentChildren;
}

const shown = signal<ShownOnce | undefined>(undefined);

export const showOnce = (secret: ShownOnce): void => {
  shown.value = secret;
};

export function ShownOnceDialog() {
  const now = shown.value;
  useEffect(() => {
    if (now === undefined) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [now]);
  if (now === undefined) return null;
  const stored = () => {
    shown.value = undefined;
  };
  return (
    <Dialog title={now.title} onClose={stored} isKept>
      <Note tone="warn">It is shown this once. Store it now: later you can only make another.</Note>
      <div class="secret">
        <code class="break">{now.secret}</code>
        <CopyButton text={now.secret} what={now.what} />
      </div>
      {now.about}
      <div class="dialog-foot">
        <Button kind="main" onClick={stored}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
