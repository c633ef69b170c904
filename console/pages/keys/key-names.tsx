/** The keys that an act would revoke, by their names: those that work, of a project or of a person. */
import { type Row, type Shown, useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { isWorking } from "./key-values.ts";

/** As many as one answer has. */
const MOST = 200;
/** Names in a dialog. */
const NAMED = 8;

type Asked = Shown<Answer<"listKeys">>;

/** @param whose undefined: nothing is asked */
export const useWorkingKeys = (
  whose: { readonly project_id?: string; readonly person_id?: string } | undefined,
): Asked => useAnswer("listKeys", whose === undefined ? undefined : { query: { ...whose, limit: MOST } });

/** Those that still open something; undefined before the answer. */
export const workingOf = ({ value }: Asked): readonly Row<"listKeys">[] | undefined =>
  value.value?.data.filter(isWorking);

interface KeyNamesProps {
  readonly of: Asked;
  readonly none: string;
  /** What becomes of them. */
  readonly some: (count: number) => string;
}

export function KeyNames({ of: asked, none, some }: KeyNamesProps) {
  const working = workingOf(asked);
  if (asked.fault.value !== undefined) return <FaultNote fault={asked.fault.value} onRetry={asked.refresh} />;
  if (working === undefined) return <Waiting />;
  if (working.length === 0) return <p>{none}</p>;
  const more = working.length - NAMED;
  const isCut = asked.value.value?.next_cursor !== "";
  return (
    <>
      <p>{some(working.length)}</p>
      <ul class="names">
        {working.slice(0, NAMED).map(({ id, name, hint }) => (
          <li key={id} class="break">
            {name} <code class="small quiet">{hint}</code>
          </li>
        ))}
        {more > 0 && <li class="quiet">and {more} more</li>}
        {isCut && <li class="quiet">There may be others: the newest {MOST} keys were looked at.</li>}
      </ul>
    </>
  );
}
