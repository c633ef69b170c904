/** The results of the tools that the model has called, given by hand. */
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Check, TextArea } from "../../parts/field.tsx";
import type { Lane } from "./lane.ts";
import { openCalls, resultsMessage, type ToolResult } from "./message.ts";
import { askAgain } from "./state.ts";

const NONE: ToolResult = { text: "", isError: false };

export function ToolResults({ lane }: { readonly lane: Lane }) {
  const calls = openCalls(lane.messages);
  // Results of other calls than these are forgotten.
  return calls.length === 0 ? null : <Form key={lane.turns.value.at(-1)?.id} lane={lane} />;
}

function Form({ lane }: { readonly lane: Lane }) {
  const calls = openCalls(lane.messages);
  const [results, setResults] = useState<readonly ToolResult[]>(calls.map(() => NONE));
  const change = (at: number, next: Partial<ToolResult>) =>
    setResults(results.map((result, place) => (place === at ? { ...result, ...next } : result)));
  return (
    <form
      class="stack"
      aria-label="Results of the tools"
      onSubmit={(event) => {
        event.preventDefault();
        lane.add(resultsMessage(calls, results));
        askAgain(lane);
      }}
    >
      <p>The model called {calls.length === 1 ? "a tool" : `${calls.length} tools`}. Say what came of it.</p>
      {calls.map(({ id, name }, at) => (
        <div key={id} class="stack">
          <TextArea
            label={calls.length === 1 ? `Result of ${name}` : `Result ${at + 1}, of ${name}`}
            isCode
            rows={3}
            value={results[at]?.text ?? ""}
            onValue={(text) => change(at, { text })}
          />
          <Check
            label={`${name} failed`}
            value={results[at]?.isError === true}
            onValue={(isError) => change(at, { isError })}
          />
        </div>
      ))}
      <div class="row">
        <Button kind="main" type="submit">
          Send {calls.length === 1 ? "the result" : "the results"}
        </Button>
      </div>
    </form>
  );
}
