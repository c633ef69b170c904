/** Tries models: what is asked, the answer as it comes, what it took and cost; two models side by side; and the call as a program. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { type ApiError, call } from "../../api/call.ts";
import { shareSecrets } from "../../api/playground-key.ts";
import { filter } from "../../app/router.ts";
import { org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { CodePanel } from "./code-panel.tsx";
import { Compared } from "./compared.tsx";
import { Composer } from "./composer.tsx";
import { LaneView } from "./lane-view.tsx";
import { loadedFrom } from "./request.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import {
  choose,
  compareWith,
  isCompared,
  lanes,
  load,
  modelIds,
  models,
  openChoices,
  openFor,
  projects,
  startAnew,
  usualModel,
} from "./state.ts";

const from = filter("from");

export function Playground() {
  openFor(org.value?.id ?? "");
  const known = useAnswer("listModels", {});
  const own = useAnswer("listProjects", {});
  useEffect(() => {
    models.value = (known.value.value?.data ?? []).filter(({ task }) => task === "generate");
  }, [known.value.value]);
  useEffect(() => {
    projects.value = (own.value.value?.data ?? []).filter(({ status }) => status === "active");
  }, [own.value.value]);
  useEffect(() => {
    shareSecrets();
    openChoices();
  }, []);
  const recorded = useRecorded();
  const [isCodeOpen, setCodeOpen] = useState(false);
  const isThere = known.value.value !== undefined && own.value.value !== undefined;
  return (
    <Page
      title="Playground"
      about="Try a model. Calls are real: your playground key pays for them, with a small budget of its own each day."
      actions={
        <>
          <Button onClick={() => compareWith(isCompared.value ? "" : usualModel(modelIds.value[0] ?? ""))}>
            {isCompared.value ? "One model only" : "Compare two models"}
          </Button>
          <Button onClick={() => setCodeOpen(!isCodeOpen)} aria-expanded={isCodeOpen}>
            As code
          </Button>
          <Button onClick={startAnew}>Start anew</Button>
        </>
      }
    >
      <FaultNote fault={known.fault.value} onRetry={known.refresh} />
      <FaultNote fault={own.fault.value} onRetry={own.refresh} />
      <FaultNote fault={recorded.fault} />
      {recorded.note !== "" && <Note tone="warn">{recorded.note}</Note>}
      {!isThere || recorded.isBusy ? (
        known.fault.value === undefined && own.fault.value === undefined && <Waiting />
      ) : (
        <Tried isCodeOpen={isCodeOpen} />
      )}
    </Page>
  );
}

function Tried({ isCodeOpen }: { readonly isCodeOpen: boolean }) {
  if (models.value.length === 0) {
    return (
      <Panel title="No models">
        <p>No model of this gateway generates text. Whoever runs it sets up providers.</p>
      </Panel>
    );
  }
  return (
    <div class="play">
      <div class="stack">
        <div class="play-lanes" data-count={lanes.value.length}>
          {lanes.value.map((lane, at) => (
            <LaneView key={at} lane={lane} at={at} />
          ))}
        </div>
        <Compared />
        <Composer />
        {isCodeOpen && <CodePanel />}
      </div>
      <SettingsPanel />
    </div>
  );
}

interface Recorded {
  readonly isBusy: boolean;
  readonly fault: ApiError | undefined;
  /** Why the request could not be taken over; empty where it could. */
  readonly note: string;
}

const NOTHING: Recorded = { isBusy: false, fault: undefined, note: "" };

/** Takes over the request that the address names, once: then the address is that of its model and project. */
function useRecorded(): Recorded {
  const [state, setState] = useState(NOTHING);
  const id = from.value;
  useEffect(() => {
    if (id === "") return undefined;
    const asking = new AbortController();
    setState({ ...NOTHING, isBusy: true });
    call("getRequest", { params: { id } }, asking.signal).then(
      (detail) => {
        const loaded = loadedFrom(detail.request);
        if (loaded !== undefined) load(loaded);
        const model = loaded === undefined ? undefined : loaded.model || detail.model;
        setState({ ...NOTHING, note: noteOf(detail.payload_state, loaded !== undefined) });
        choose({ from: undefined, with: undefined, model, project: detail.project_id });
      },
      (error: unknown) => {
        if (!asking.signal.aborted) setState({ ...NOTHING, fault: error as ApiError });
      },
    );
    return () => asking.abort();
  }, [id]);
  return state;
}

function noteOf(state: string, isLoaded: boolean): string {
  if (isLoaded) return "";
  return state === "available"
    ? "That request is no generation, so there is nothing of it to try here."
    : "What that request asked is not kept, so it cannot be asked again from here.";
}
