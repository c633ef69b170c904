/** What can be written at the cursor, as a list over the text. The focus stays in the text, which names the chosen one. */
import { useEffect, useRef } from "preact/hooks";
import type { Completion } from "./completion.ts";

interface SuggestionsProps {
  readonly id: string;
  readonly offered: readonly Completion[];
  readonly chosen: number;
  /** Where the cursor's line ends, and where its word begins, from the top and the left of the text's frame; pixels. */
  readonly top: number;
  readonly left: number;
  readonly onTake: (completion: Completion) => void;
}

export const optionId = (id: string, at: number): string => `${id}-${at}`;

export function Suggestions({ id, offered, chosen, top, left, onTake }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, offered]);
  return (
    <div
      class="suggestions"
      role="listbox"
      id={id}
      aria-label="What can be written here"
      tabIndex={-1}
      ref={list}
      style={{ "--top": `${top}px`, "--left": `${left}px` }}
    >
      {offered.map((each, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text takes the keys
        <div
          key={each.label}
          id={optionId(id, at)}
          role="option"
          tabIndex={-1}
          aria-selected={at === chosen}
          // The focus stays in the text.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(each)}
        >
          <span class="row">
            <code class="break">{each.label}</code>
            {each.detail !== "" && <span class="small quiet">{each.detail}</span>}
          </span>
          {each.about !== "" && <span class="small quiet break">{each.about}</span>}
        </div>
      ))}
    </div>
  );
}
