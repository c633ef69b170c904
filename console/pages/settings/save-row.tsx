/** The foot of a form of settings: its button, what became of the last change, and a fault that no field has. */
import { Button } from "../../parts/button.tsx";
import { FaultNote, Note } from "../../parts/note.tsx";
import type { OrgChange } from "./org-change.ts";

interface SaveProps {
  readonly change: OrgChange;
  /** Something differs from what is stored. */
  readonly isChanged: boolean;
  /** The fields have a place for these: pointers as the API names them. A pointer also covers what is below it. */
  readonly placed: readonly string[];
  readonly onDiscard: () => void;
}

export function SaveRow({ change, isChanged, placed, onDiscard }: SaveProps) {
  const { fault, isBusy, isSaved, warnings } = change;
  const isPlaced = placed.some(
    (pointer) => fault?.param === pointer || fault?.param.startsWith(`${pointer}/`),
  );
  return (
    <>
      {!isPlaced && <FaultNote fault={fault} />}
      {isSaved && !isChanged && warnings.map((each) => <Warning key={each} text={each} />)}
      <div class="row" aria-live="polite">
        <Button kind="main" type="submit" isBusy={isBusy} disabled={!isChanged}>
          Save changes
        </Button>
        {isChanged && !isBusy && <Button onClick={onDiscard}>Discard</Button>}
        {isSaved && !isChanged && <span class="quiet small">Saved.</span>}
      </div>
    </>
  );
}

const Warning = ({ text }: { readonly text: string }) => (
  <Note tone="warn">
    <p class="break">Saved. {text}</p>
  </Note>
);
