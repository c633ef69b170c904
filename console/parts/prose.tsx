/** What people and models wrote, in paragraphs and blocks of code. A text that grows has only its last block drawn again. */
import { useMemo } from "preact/hooks";
import { pieces } from "../text/canonical.ts";
import { type Block, blocksOf } from "../text/prose.ts";

export function Prose({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="prose">
      {blocks.map((block, at) => (
        <Shown key={at} {...block} />
      ))}
    </div>
  );
}

function Shown({ kind, text, goesOn }: Block) {
  return useMemo(() => {
    const Tag = kind === "code" ? "pre" : "p";
    return (
      <Tag class={goesOn ? "goes-on" : undefined}>
        <Redacted text={text} />
      </Tag>
    );
  }, [kind, text, goesOn]);
}

/** Text with its redactions marked. */
export const Redacted = ({ text }: { readonly text: string }) => (
  <>
    {pieces(text).map(({ text: piece, redacted }, at) =>
      redacted === undefined ? (
        piece
      ) : (
        <mark key={at} title={`Redacted: ${redacted}`}>
          {piece}
        </mark>
      ),
    )}
  </>
);
