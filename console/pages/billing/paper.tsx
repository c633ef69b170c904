/** A document as it prints: the texts that its PDF has, in their order. Drawn here, so that it is read in any window and in the dark too. */
import type { Printed } from "./document-words.ts";

export function Paper({ of: printed }: { readonly of: Printed }) {
  const { title, supplier, recipient, facts, totals, words, notes, registration, signature } = printed;
  return (
    <article class="paper" aria-label={`${title} ${printed.number}`}>
      <h3 class="paper-title">{title}</h3>
      <div class="paper-two">
        <Party of={supplier} />
        <FactList facts={facts} />
      </div>
      <Party of={recipient} />
      <Lines of={printed} />
      <dl class="paper-totals">
        {totals.map(({ name, value, is_strong: isStrong }) => (
          <div key={name} class={isStrong ? "paper-strong" : undefined}>
            <dt>{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
      </dl>
      <div>
        <div class="small quiet">{words.name}</div>
        <p>{words.value}</p>
      </div>
      {notes.length > 0 && (
        <div class="small stack">
          {notes.map((note) => (
            <p key={note} class="break">
              {note}
            </p>
          ))}
        </div>
      )}
      {registration !== null && (
        <div class="small">
          <FactList facts={registration.facts} />
          <p class="quiet">Its QR code is on the PDF.</p>
        </div>
      )}
      <footer class="small">
        {signature.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </footer>
    </article>
  );
}

function Party({ of: { heading, name, lines } }: { readonly of: Printed["supplier"] }) {
  return (
    <div class="break">
      <div class="small quiet">{heading}</div>
      <p>
        <strong>{name}</strong>
      </p>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

const FactList = ({ facts }: { readonly facts: Printed["facts"] }) => (
  <dl class="facts">
    {facts.map(({ name, value }) => [
      <dt key={`${name} name`}>{name}</dt>,
      <dd key={name} class="break">
        {value}
      </dd>,
    ])}
  </dl>
);

function Lines({ of: { columns, rows } }: { readonly of: Printed }) {
  const kind = (at: number) => (columns[at]?.is_number === true ? "number" : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reached by the keyboard
    <section class="table-frame" aria-label="Lines" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title }, at) => (
              <th key={title} scope="col" class={kind(at)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((text, at) => (
                <td key={columns[at]?.title} class={kind(at)}>
                  {kind(at) === undefined ? <span class={at === 1 ? "break" : undefined}>{text}</span> : text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
