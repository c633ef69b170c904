/** A text as it was sent or answered, in a block that scrolls, with a button that copies all of it. */
import { useState } from "preact/hooks";
import { CopyButton } from "./copy.tsx";
import { Tabs } from "./tabs.tsx";

/** Beyond this a text keeps a browser busy; the button copies all of it. */
const MOST_SHOWN = 200_000;

interface TextBlockProps {
  /** What it is, for its heading and its button. */
  readonly title: string;
  readonly text: string;
}

export function TextBlock({ title, text }: TextBlockProps) {
  return (
    <section class="stack" aria-label={title}>
      <div class="panel-head">
        <h3>{title}</h3>
        <CopyButton text={text} what={title} />
      </div>
      <Block text={text} />
    </section>
  );
}

const Block = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <pre class="tall text-block" tabIndex={0}>
    {text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… copy it for the rest` : text}
  </pre>
);

/** JSON with its members on lines of their own, or as it came, byte for byte. What is no JSON is shown as it came. */
export function JsonBlock({ title, text }: TextBlockProps) {
  const [view, setView] = useState("read");
  const read = indented(text);
  return (
    <section class="stack" aria-label={title}>
      <div class="panel-head">
        <h3>{title}</h3>
        <div class="row">
          {read !== undefined && (
            <Tabs
              label={`${title} as`}
              value={view}
              onValue={setView}
              options={[
                ["read", "To read"],
                ["raw", "Byte for byte"],
              ]}
            />
          )}
          <CopyButton text={text} what={title} />
        </div>
      </div>
      <Block text={view === "read" ? (read ?? text) : text} />
    </section>
  );
}

/** Undefined where the text is no JSON. */
function indented(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}
