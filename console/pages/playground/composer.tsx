/** Where the next message is typed, with its pictures. */
import { useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { TextArea } from "../../parts/field.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { PICTURE_TYPES, taken } from "./picture.ts";
import { filesOf, pictureOf } from "./picture-files.ts";
import { isRunning, maySend, obstacle, pictures, send, stopAll, takesPictures, text } from "./state.ts";

export function Composer() {
  const [faults, setFaults] = useState<readonly string[]>([]);
  const add = async (files: readonly File[]) => {
    const { files: good, faults: bad } = taken(files, pictures.value.length);
    setFaults(bad);
    try {
      const made = await Promise.all(good.map(pictureOf));
      pictures.value = [...pictures.value, ...made];
    } catch (error) {
      setFaults([...bad, String(error)]);
    }
  };
  /** Text that comes with files is pasted as usual. */
  const onFiles = (event: DragEvent | ClipboardEvent, from: DataTransfer | null) => {
    const files = filesOf(from);
    if (files.length === 0) return;
    event.preventDefault();
    if (takesPictures.value) void add(files);
    else setFaults(["The chosen model takes no pictures."]);
  };
  return (
    <Panel title="Your message">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does the same by the keyboard */}
      <div
        class="stack"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => onFiles(event, event.dataTransfer)}
        onPaste={(event) => onFiles(event, event.clipboardData)}
      >
        <TextArea
          label="Message"
          hint="Ctrl+Enter or ⌘+Enter sends."
          rows={4}
          value={text.value}
          onValue={(value) => {
            text.value = value;
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            send();
          }}
        />
        <Pictures />
      </div>
      {faults.length > 0 && (
        <Note tone="warn">
          {faults.map((fault) => (
            <p key={fault} class="break">
              {fault}
            </p>
          ))}
        </Note>
      )}
      <div class="row">
        {isRunning.value ? (
          <Button kind="danger" onClick={stopAll}>
            Stop the answer
          </Button>
        ) : (
          <Button kind="main" disabled={!maySend.value} onClick={send}>
            Send
          </Button>
        )}
        {takesPictures.value && <AddPictures onFiles={(files) => void add(files)} />}
        {obstacle.value !== undefined && <span class="small quiet">{obstacle.value}</span>}
      </div>
    </Panel>
  );
}

function AddPictures({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={PICTURE_TYPES.join(",")}
        aria-label="Pictures"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
      <Button onClick={() => input.current?.click()}>Add pictures</Button>
    </>
  );
}

function Pictures() {
  if (pictures.value.length === 0) return null;
  return (
    <ul class="play-pictures" aria-label="Pictures of the message">
      {pictures.value.map(({ name, type, data }, at) => (
        <li key={`${name} ${at}`}>
          <img src={`data:${type};base64,${data}`} alt={name} />
          <Button
            kind="quiet"
            aria-label={`Remove ${name}`}
            onClick={() => {
              pictures.value = pictures.value.filter((_, place) => place !== at);
            }}
          >
            Remove
          </Button>
        </li>
      ))}
    </ul>
  );
}
