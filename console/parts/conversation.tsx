/** What was asked and answered, as turns. All of it is text of clients and models: none of it becomes markup. */
import { pieces, type ShownPart, type Turn } from "../text/canonical.ts";
import { Badge } from "./note.tsx";

export const Conversation = ({ turns }: { readonly turns: readonly Turn[] }) => (
  <div class="turns">
    {turns.map(({ role, parts }, at) => (
      <article key={at} class="turn" data-role={role}>
        <h3 class="small quiet">{role}</h3>
        {parts.map((part, index) => (
          <Part key={index} part={part} />
        ))}
      </article>
    ))}
  </div>
);

function Part({ part }: { readonly part: ShownPart }) {
  const { kind, name, text, picture, isError } = part;
  return (
    <div class="part">
      {kind !== "text" && (
        <span class="row">
          <Badge tone={isError === true ? "bad" : "plain"}>
            {kind}
            {name !== undefined && name !== "" && ` ${name}`}
          </Badge>
        </span>
      )}
      {picture !== undefined && <img src={picture} alt="In the request" />}
      {text !== "" && <Redacted text={text} isCode={kind !== "text" && kind !== "reasoning"} />}
    </div>
  );
}

/** Text with its redactions marked. */
const Redacted = ({ text, isCode }: { readonly text: string; readonly isCode: boolean }) => (
  <p class={isCode ? "said code" : "said"}>
    {pieces(text).map(({ text: piece, redacted }, at) =>
      redacted === undefined ? (
        piece
      ) : (
        <mark key={at} title={`Redacted: ${redacted}`}>
          {piece}
        </mark>
      ),
    )}
  </p>
);
