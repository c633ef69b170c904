/**
 * A secret is shown once. Its dialog closes by its own buttons alone; the secret is kept, in memory only, until the person says that they
 * have stored it, so neither Escape, a click beside it, the back button nor another page loses it. The browser asks before it leaves.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go, pageAddress } from "../app/router.ts";
import { orgSlug } from "../app/session.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { Note } from "./note.tsx";

export interface ShownSecret {
  readonly name: string;
  readonly secret: string;
  /** What became of what it replaces, or what to do with it. */
  readonly about?: string;
  /** A page that one goes to with it. */
  readonly next?: {
    readonly text: string;
    readonly to: readonly string[];
    readonly filters?: Readonly<Record<string, string>>;
  };
}

const shown = signal<ShownSecret | undefined>(undefined);

export const showSecret = (secret: ShownSecret): void => {
  shown.value = secret;
};

/** To be on every page that makes a secret: it shows the one that was made last, until it is stored. */
export function SecretDialog() {
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
  const { next } = now;
  return (
    <Dialog title={`The secret of "${now.name}"`} onClose={stored} isKept>
      <Note tone="warn">It is shown this once. Store it now: later you can only make another.</Note>
      <div class="secret">
        <code class="break">{now.secret}</code>
        <CopyButton text={now.secret} what="secret" />
      </div>
      {now.about !== undefined && <p>{now.about}</p>}
      <div class="dialog-foot">
        {next !== undefined && (
          <Button
            onClick={() => {
              stored();
              go(pageAddress(orgSlug.value, next.to, next.filters));
            }}
          >
            {next.text}
          </Button>
        )}
        <Button kind="main" onClick={stored}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
