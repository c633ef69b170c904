/** The text of a policy with what the gateway's check says of it, a moment after the last letter, and what can be written at the cursor. */
import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../../api/answers.ts";
import { useRested } from "../../../api/timing.ts";
import { Badge, FaultNote } from "../../../parts/note.tsx";
import type { Known } from "../policy-data.ts";
import { CodeField } from "./code-field.tsx";
import { type Help, helpAt, namesWanted } from "./completion.ts";
import { useNames, useSchema } from "./known-names.ts";
import type { Place } from "./place.ts";
import { type PlacedProblem, ProblemList } from "./problems.tsx";
import type { Schema } from "./schema.ts";

interface CheckedFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Why the text was not saved: until it changes. */
  readonly refused: readonly PlacedProblem[];
  readonly known: Known;
}

const REST_MS = 300;

export function CheckedField({ label, value, onValue, refused, known }: CheckedFieldProps) {
  const rested = useRested(value, REST_MS);
  const check = useAnswer("validatePolicy", { body: { yaml: rested } });
  const schema = useSchema();
  const [place, setPlace] = useState<Place | undefined>(undefined);
  const names = useNames(namesWanted(place), known);
  const [goTo, setGoTo] = useState<PlacedProblem | undefined>(undefined);
  const verdict = check.value.value;
  const isOld = rested !== value || check.isBusy.value;
  const checked = verdict?.problems ?? [];
  const problems = useMemo(() => merged(checked, refused), [verdict, refused]);
  const warnings = verdict?.warnings ?? [];
  const choose = (problem: PlacedProblem) => setGoTo({ ...problem });
  return (
    <>
      <CodeField
        label={label}
        value={value}
        onValue={onValue}
        problems={problems}
        warnings={warnings}
        schema={schema}
        names={names}
        onPlace={setPlace}
        goTo={goTo}
      />
      <Here
        help={schema && place && helpAt(place, schema, value.slice(place.from, place.to))}
        schema={schema}
      />
      <FaultNote fault={check.fault.value} onRetry={check.refresh} />
      <div class="stack" aria-busy={isOld}>
        <div class="row" role="status">
          {verdict !== undefined && check.fault.value === undefined && (
            <State problems={problems.length} warnings={warnings.length} />
          )}
        </div>
        {problems.length > 0 && (
          <ProblemList label="What is wrong" problems={problems} tone="bad" onChoose={choose} />
        )}
        {warnings.length > 0 && (
          <ProblemList label="What to look at" problems={warnings} tone="warn" onChoose={choose} />
        )}
      </div>
    </>
  );
}

/** What a refusal says beyond the check. */
const merged = (
  checked: readonly PlacedProblem[],
  refused: readonly PlacedProblem[],
): readonly PlacedProblem[] => [
  ...checked,
  ...refused.filter(
    ({ line, message }) => !checked.some((each) => each.line === line && each.message === message),
  ),
];

function State({ problems, warnings }: { readonly problems: number; readonly warnings: number }) {
  if (problems > 0) return <Badge tone="bad">{counted(problems, "problem")}: it cannot be saved</Badge>;
  return (
    <>
      <Badge tone="good">Valid</Badge>
      {warnings > 0 && <Badge tone="warn">{counted(warnings, "warning")}</Badge>}
    </>
  );
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** What the word at the cursor is. Its place is kept while it says nothing, so that nothing below it moves. */
function Here({ help, schema }: { readonly help: Help | undefined; readonly schema: Schema | undefined }) {
  if (schema === undefined) return null;
  return (
    <p class="editor-help small">
      {help === undefined ? (
        <span class="quiet">Nothing is known of what is at the cursor.</span>
      ) : (
        <>
          {help.path !== "" && <code>{help.path}</code>} {help.about}{" "}
          {help.takes !== "" && help.path !== "" && <span class="quiet">Takes {help.takes}.</span>}
        </>
      )}
    </p>
  );
}
