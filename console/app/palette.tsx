/**
 * ⌘K (Ctrl+K): pages, and what an id, a key's name or a model's name leads to. Pages are found as one types; the rest is asked of the API a
 * moment after the last letter.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Waiting } from "../parts/note.tsx";
import { type Found, find } from "./find.ts";
import { go } from "./router.ts";

const isOpen = signal(false);
export const openPalette = (): void => {
  isOpen.value = true;
};

/** After the last letter. */
const REST_MS = 150;

export function Palette() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      isOpen.value = !isOpen.value;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return isOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const [text, setText] = useState("");
  const [found, setFound] = useState<readonly Found[]>([]);
  const [at, setAt] = useState(0);
  const [isLooking, setLooking] = useState(true);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    const asking = new AbortController();
    const show = (rows: readonly Found[]) => {
      if (!asking.signal.aborted) setFound(rows);
    };
    const look = async () => {
      setLooking(true);
      await find(text, asking.signal, show);
      if (!asking.signal.aborted) setLooking(false);
    };
    const timer = setTimeout(() => void look(), text === "" ? 0 : REST_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text]);
  const close = () => {
    isOpen.value = false;
  };
  const follow = (row: Found | undefined) => {
    if (row === undefined) return;
    close();
    go(row.address);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((now) => (now + step + found.length) % Math.max(1, found.length));
    }
    if (event.key === "Enter") follow(found[at]);
  };
  return (
    <Dialog title="Find" onClose={close}>
      <input
        ref={input}
        class="input"
        type="text"
        aria-label="Pages, keys, models, request ids"
        placeholder="Page, key, model, or request id"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          // What is found later comes behind the rest, so that a choice made meanwhile stays.
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette-list" aria-live="polite">
        {found.map((row, index) => (
          <li key={row.address}>
            <a
              href={row.address}
              aria-current={index === at}
              onClick={(event) => {
                event.preventDefault();
                follow(row);
              }}
            >
              {row.title} <span class="quiet small">{row.kind}</span>
            </a>
          </li>
        ))}
      </ul>
      {isLooking ? <Waiting /> : found.length === 0 && <p class="quiet">Nothing is found.</p>}
    </Dialog>
  );
}
