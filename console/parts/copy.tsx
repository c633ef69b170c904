/** A text that can be copied: ids, keys, commands. */
import { useState } from "preact/hooks";

/** How long a button says that it has copied. */
const TOLD_MS = 1500;

/** The button alone. @param what names it for those who do not see it: "request id" */
export function CopyButton({ text, what = "" }: { readonly text: string; readonly what?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copied(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), TOLD_MS);
  };
  return (
    <button type="button" class="copy-button" aria-label={`Copy ${what || text}`} onClick={() => void copy()}>
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}

/** An id with its button. */
export const Copy = ({ text, what }: { readonly text: string; readonly what?: string }) => (
  <span class="copy">
    <code class="copy-text">{text}</code>
    <CopyButton text={text} {...(what !== undefined && { what })} />
  </span>
);

/** Browsers give the clipboard only to pages of https and of this machine: elsewhere a text field is copied from. */
async function copied(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}
