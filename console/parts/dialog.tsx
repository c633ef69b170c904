/** Dialogs, by the browser's own element: it keeps the focus, and Escape closes it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, ApiError as Fault } from "../api/call.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { FaultNote } from "./note.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Only a button of its own closes the dialog: for what is shown once. */
  readonly isKept?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, isKept, children }: DialogProps) {
  const frame = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    frame.current?.showModal();
  }, []);
  /** Some browsers close it at the second Escape, whatever is answered to the first. */
  const openAgain = () => frame.current?.showModal();
  return (
    <dialog
      ref={frame}
      class="dialog"
      aria-label={title}
      onClose={isKept === true ? openAgain : onClose}
      onCancel={(event) => {
        if (isKept === true) event.preventDefault();
      }}
      onKeyDown={(event) => {
        if (isKept === true && event.key === "Escape") event.preventDefault();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  /** What is done, as a question: `Revoke "Batch"?` */
  readonly title: string;
  /** What it does, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** Verb and noun of the button: `Revoke key`. */
  readonly act: string;
  readonly onAct: () => Promise<void>;
  readonly onClose: () => void;
  /** The button that does nothing: `Stay`. Default: `Keep it`. */
  readonly keep?: string;
  /** What must be typed before, for what changes much: a slug. */
  readonly typed?: string;
}

/** Asks before something is taken away. It stays open, with the reason, where that fails. */
export function Confirm({ title, children, act, onAct, onClose, keep = "Keep it", typed }: ConfirmProps) {
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const run = async () => {
    setBusy(true);
    try {
      await onAct();
      onClose();
    } catch (error) {
      setFault(error instanceof Fault ? error : undefined);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {typed !== undefined && (
        <TextField label={`Type "${typed}" to confirm`} value={text} onValue={setText} />
      )}
      <FaultNote fault={fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>{keep}</Button>
        <Button
          kind="danger"
          isBusy={isBusy}
          disabled={typed !== undefined && text.trim() !== typed}
          onClick={() => void run()}
        >
          {act}
        </Button>
      </div>
    </Dialog>
  );
}
