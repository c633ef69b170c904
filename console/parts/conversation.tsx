/** What was asked and answered, as turns. All of it is text of clients and models: none of it becomes markup. */
import type { ShownPart, Turn } from "../text/canonical.ts";
import { Badge } from "./note.tsx";
import { Prose, Redacted } from "./prose.tsx";

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

/** One part: what it is, and what it says. */
export function Part({ part }: { readonly part: ShownPart }) {
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
      {text !== "" &&
        (PROSE.includes(kind) ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
          <div class="said" tabIndex={0}>
            <Prose text={text} />
          </div>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
          <p class="said code" tabIndex={0}>
            <Redacted text={text} />
          </p>
        ))}
    </div>
  );
}

const PROSE: readonly string[] = ["text", "reasoning", "refusal"];
