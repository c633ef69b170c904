/**
 * What a model wrote as blocks to read: paragraphs, and code between fences. Nothing else of its markup means anything here. Blocks are
 * bounded, so that of a long text that grows only the last one is drawn again. Pure.
 */

export interface Block {
  readonly kind: "text" | "code";
  readonly text: string;
  /** It goes on where the block before was cut. */
  readonly goesOn: boolean;
}

/** Characters of a block. */
export const MOST_OF_BLOCK = 4000;

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  /** The fence that is open; empty: none is. */
  let fence = "";
  const end = (kind: Block["kind"]) => {
    const whole = lines.join("\n");
    lines = [];
    if (kind === "text" ? whole.trim() !== "" : whole !== "") blocks.push(...cut(kind, whole));
  };
  for (const line of text.split("\n")) {
    const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
    if (fence === "" && mark !== "" && !(mark.startsWith("`") && info.includes("`"))) {
      end("text");
      fence = mark;
    } else if (fence !== "" && mark.startsWith(fence) && info.trim() === "") {
      end("code");
      fence = "";
    } else if (fence === "" && line.trim() === "") {
      end("text");
    } else {
      lines.push(line);
    }
  }
  end(fence === "" ? "text" : "code");
  return blocks;
}

/** Cut at a line's end or a space, where there is one. */
function cut(kind: Block["kind"], whole: string): Block[] {
  const blocks: Block[] = [];
  let from = 0;
  while (whole.length - from > MOST_OF_BLOCK) {
    const window = whole.slice(from, from + MOST_OF_BLOCK);
    const at = Math.max(window.lastIndexOf("\n"), kind === "text" ? window.lastIndexOf(" ") : -1);
    // Surrogate pairs stay whole.
    const half = /[\uD800-\uDBFF]$/.test(window) ? 1 : 0;
    const length = at > MOST_OF_BLOCK / 2 ? at + 1 : MOST_OF_BLOCK - half;
    blocks.push({ kind, text: whole.slice(from, from + length), goesOn: from > 0 });
    from += length;
  }
  blocks.push({ kind, text: whole.slice(from), goesOn: from > 0 });
  return blocks;
}
