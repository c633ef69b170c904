/** One conversation: the model, what was said, the answer as it comes, and what the next call would do. */
import type { ApiError } from "../../api/call.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { adviceFor } from "./advice.ts";
import { Examples } from "./examples.tsx";
import type { Lane } from "./lane.ts";
import { PlanAhead } from "./plan-ahead.tsx";
import { askAgain, choose, compareWith, isCompared, modelIds, models, obstacle } from "./state.ts";
import { ToolResults } from "./tool-results.tsx";
import { GrowingView, TurnView } from "./turn-view.tsx";

interface LaneProps {
  readonly lane: Lane;
  /** Its place among the lanes, from 0. */
  readonly at: number;
}

export function LaneView({ lane, at }: LaneProps) {
  const turns = lane.turns.value;
  const title = isCompared.value ? `Model ${at + 1}` : "Conversation";
  const isIdle = lane.growing.value === undefined;
  const waits = isIdle && turns.at(-1)?.message.role === "user" && lane.fault.value === undefined;
  return (
    <Panel title={title}>
      <ModelChoice at={at} />
      {turns.length === 0 && at === 0 && <Examples />}
      {turns.length > 0 && (
        <div class="turns">
          {turns.map((turn) => (
            <TurnView key={turn.id} lane={lane} turn={turn} isIdle={isIdle} />
          ))}
        </div>
      )}
      <GrowingView lane={lane} />
      <CallFault fault={lane.fault.value} onRetry={() => askAgain(lane)} />
      {isIdle && <ToolResults lane={lane} />}
      {waits && (
        <div class="row">
          <Button kind="main" disabled={obstacle.value !== undefined} onClick={() => askAgain(lane)}>
            Ask for an answer
          </Button>
        </div>
      )}
      <PlanAhead at={at} />
    </Panel>
  );
}

function ModelChoice({ at }: { readonly at: number }) {
  const chosen = modelIds.value[at] ?? "";
  const ids = models.value.map(({ id }) => id);
  // A name that the list lacks may be an alias, or a model of the org's own.
  const options = ids.includes(chosen) || chosen === "" ? ids : [chosen, ...ids];
  return (
    <Choice
      label={isCompared.value ? `Model ${at + 1}` : "Model"}
      value={chosen}
      onValue={(id) => (at === 0 ? choose({ model: id }) : compareWith(id))}
      options={options.map((id) => [id, id] as const)}
    />
  );
}

/** Why there is no answer, and what to do. */
function CallFault({
  fault,
  onRetry,
}: {
  readonly fault: ApiError | undefined;
  readonly onRetry: () => void;
}) {
  if (fault === undefined) return null;
  const advice = adviceFor(fault);
  return (
    <div class="stack">
      <FaultNote fault={fault} onRetry={onRetry} />
      {advice !== undefined && (
        <p>
          {advice.text} {advice.page !== undefined && <Link to={[advice.page[0]]}>{advice.page[1]}</Link>}
        </p>
      )}
    </div>
  );
}
