/** The call as a program to copy. */
import { useState } from "preact/hooks";
import { useRestedSignals } from "../../api/timing.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Waiting } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { codeOf, LANGUAGES, type Language } from "./code.ts";
import { textPart } from "./message.ts";
import { bodyOf } from "./request.ts";
import { lanes, modelIds, nextBody, settings } from "./state.ts";

const REST_MS = 300;
/** Beyond this a text keeps a browser busy; the copy is whole. */
const MOST_SHOWN = 50_000;

export function CodePanel() {
  const [language, setLanguage] = useState<Language>("curl");
  const [at, setAt] = useState(0);
  const lane = Math.min(at, lanes.value.length - 1);
  const bodies = useRestedSignals(() => lanes.value.map((_, place) => shownBody(place)), REST_MS);
  const body = bodies?.[lane];
  const code = body === undefined ? "" : codeOf(language, location.origin, body);
  return (
    <Panel
      title="As code"
      actions={
        <>
          <Tabs
            label="Language"
            value={language}
            onValue={(next) => setLanguage(next as Language)}
            options={LANGUAGES}
          />
          <CopyButton text={code} what="code" />
        </>
      }
    >
      {lanes.value.length > 1 && (
        <Tabs
          label="Model of the code"
          value={String(lane)}
          onValue={(next) => setAt(Number(next))}
          options={modelIds.value.map((id, place) => [String(place), id] as const)}
        />
      )}
      {code === "" ? (
        <Waiting />
      ) : (
        <pre class="wrapped">
          {code.length > MOST_SHOWN ? `${code.slice(0, MOST_SHOWN)}\n… copy it for the rest` : code}
        </pre>
      )}
      <p class="small quiet">
        By chat completions, with a key in the environment variable WEIR_API_KEY. The playground's own key
        ends after an hour.
      </p>
    </Panel>
  );
}

/** The next call; where nothing is typed yet, with a greeting. */
function shownBody(at: number) {
  const model = modelIds.value[at] ?? "";
  const hello = { role: "user", content: [textPart("Hello")] } as const;
  const messages = lanes.value[at]?.messages ?? [];
  // After an answer, the call that it answered.
  const asked = messages.at(-1)?.role === "assistant" ? messages.slice(0, -1) : messages;
  return nextBody(at) ?? bodyOf(model, settings.value, asked.length === 0 ? [hello] : asked);
}
