/** What the next call would do: which endpoints would be asked, in which order, and how much would be held. Nothing is charged for it. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer, Input } from "../../api/call.ts";
import { useRestedSignals } from "../../api/timing.ts";
import { Table } from "../../parts/table.tsx";
import { format } from "../../text/org-format.ts";
import { withoutPictures } from "./request.ts";
import { lanes, nextBody, projectId, read, settings } from "./state.ts";

/** After the last letter. */
const REST_MS = 500;

export function PlanAhead({ at }: { readonly at: number }) {
  const input = useRestedSignals(() => inputOf(at), REST_MS);
  const { value, fault } = useAnswer("dryRun", input);
  if (input === undefined) return null;
  if (fault.value !== undefined) {
    return <p class="small play-refused break">This call would be refused: {fault.value.message}</p>;
  }
  return value.value === undefined ? null : <Plan plan={value.value} />;
}

/** The question to the API; undefined while there is nothing to ask. */
function inputOf(at: number): Input<"dryRun"> | undefined {
  if (lanes.value[at]?.growing.value !== undefined || Object.keys(read.value.faults).length > 0)
    return undefined;
  const body = nextBody(at);
  if (body === undefined || projectId.value === "") return undefined;
  return {
    query: { project_id: projectId.value },
    // What people type as JSON is checked by the API.
    body: { ...withoutPictures(body), stream: true },
  } as unknown as Input<"dryRun">;
}

function Plan({
  plan: { plan, excluded, reserve_micro: micro, warnings },
}: {
  readonly plan: Answer<"dryRun">;
}) {
  const others = plan.length - 1;
  return (
    <details class="small play-plan">
      <summary>
        Next call: asks <span class="break">{plan[0]?.endpoint_id}</span>
        {others > 0 && `, then ${others} other${others > 1 ? "s" : ""}`}; holds {format.value.money(micro)}{" "}
        {settings.value.maxTokens === "" ? "at first" : "at most"}
      </summary>
      <Table
        label="Endpoints that would be asked, in order"
        rows={plan.map((each, place) => ({ ...each, place: place + 1 }))}
        keyOf={(each) => each.endpoint_id}
        columns={[
          { head: "Order", cell: (each) => each.place },
          { head: "Endpoint", cell: (each) => <span class="break">{each.endpoint_id}</span> },
          { head: "Why", cell: (each) => <span class="break">{each.reason}</span> },
        ]}
      />
      {excluded.map((each) => (
        <p key={each.endpoint_id} class="quiet break">
          Not {each.endpoint_id}: {each.reason}
        </p>
      ))}
      {settings.value.maxTokens === "" && (
        <p class="quiet">
          Without max tokens the hold grows with the answer; what is not used is given back.
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="quiet break">
          {warning}
        </p>
      ))}
    </details>
  );
}
