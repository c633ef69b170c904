/** One turn, which can be edited, taken out, or asked again; and the answer that is coming. */
import { useMemo, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Part } from "../../parts/conversation.tsx";
import { TextArea } from "../../parts/field.tsx";
import { partsOf } from "../../text/canonical.ts";
import type { Lane, PlayTurn } from "./lane.ts";
import { type Part as MessagePart, proseOf } from "./message.ts";
import { ResultView } from "./result-view.tsx";
import { askAgain } from "./state.ts";

interface TurnProps {
  readonly lane: Lane;
  readonly turn: PlayTurn;
  /** No answer is coming: turns can be changed. */
  readonly isIdle: boolean;
}

export function TurnView({ lane, turn, isIdle }: TurnProps) {
  const [isEdited, setEdited] = useState(false);
  const { id, message, result } = turn;
  const shown = useMemo(() => <Parts parts={message.content} />, [message]);
  return (
    <article class="turn" data-role={message.role} aria-label={message.role}>
      <div class="panel-head">
        <h3 class="small quiet">{message.role}</h3>
        {isIdle && !isEdited && (
          <div class="play-acts">
            <Button kind="quiet" onClick={() => setEdited(true)}>
              Edit
            </Button>
            {message.role === "user" && (
              <Button
                kind="quiet"
                title="Takes back what was said after it"
                onClick={() => {
                  lane.returnTo(id);
                  askAgain(lane);
                }}
              >
                Send again
              </Button>
            )}
            <Button kind="quiet" onClick={() => lane.remove(id)}>
              Remove
            </Button>
          </div>
        )}
      </div>
      {isEdited ? (
        <Editor
          text={proseOf(message)}
          onSave={(text) => {
            lane.edit(id, text);
            setEdited(false);
          }}
          onCancel={() => setEdited(false)}
        />
      ) : (
        shown
      )}
      {result !== undefined && <ResultView result={result} />}
    </article>
  );
}

const Parts = ({ parts }: { readonly parts: readonly MessagePart[] }) => (
  <>
    {partsOf(parts).map((part, at) => (
      <Part key={at} part={part} />
    ))}
  </>
);

interface EditorProps {
  readonly text: string;
  readonly onSave: (text: string) => void;
  readonly onCancel: () => void;
}

function Editor({ text, onSave, onCancel }: EditorProps) {
  const [typed, setTyped] = useState(text);
  return (
    <div class="stack">
      <TextArea label="Text of this turn" rows={6} value={typed} onValue={setTyped} />
      <div class="row">
        <Button kind="main" onClick={() => onSave(typed)}>
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}

/** Alone in reading what grows: the turns before are not drawn again with each piece. */
export function GrowingView({ lane }: { readonly lane: Lane }) {
  const growing = lane.growing.value;
  if (growing === undefined) return null;
  return (
    <article class="turn" data-role="assistant" aria-label="assistant, answering" aria-busy="true">
      <h3 class="small quiet">assistant</h3>
      {growing.parts.length === 0 ? (
        <p class="quiet" role="status">
          Waiting for the answer.
        </p>
      ) : (
        <Parts parts={growing.parts} />
      )}
    </article>
  );
}
