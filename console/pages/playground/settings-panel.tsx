/** What is asked beside the messages: the same for both models of a comparison. */
import { Choice, TextArea, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { EFFORTS, type Settings } from "./settings.ts";
import { canReason, choose, projectId, projects, read, settings } from "./state.ts";

const TOOLS_EXAMPLE = '[{ "name": "weather", "parameters": { "type": "object" } }]';
const MORE_EXAMPLE = '{ "generation": { "top_p": 0.9 } }';

export function SettingsPanel() {
  const field = (name: keyof Settings) => ({
    value: settings.value[name],
    fault: read.value.faults[name],
    onValue: (value: string) => {
      settings.value = { ...settings.value, [name]: value };
    },
  });
  const isOpen = (name: keyof Settings) => settings.value[name] !== "";
  return (
    <Panel title="Settings">
      {projects.value.length > 1 && (
        <Choice
          label="Project"
          hint="Its budget, policies and settings count."
          value={projectId.value}
          onValue={(project) => choose({ project })}
          options={projects.value.map(({ id, name }) => [id, name] as const)}
        />
      )}
      <TextArea label="System prompt" placeholder="How the model should answer" {...field("system")} />
      <TextField
        label="Max tokens"
        inputMode="numeric"
        hint="The longest answer. It bounds what is held."
        {...field("maxTokens")}
      />
      <TextField label="Temperature" inputMode="decimal" hint="0 to 2" {...field("temperature")} />
      {(canReason.value || isOpen("effort")) && (
        <Choice
          label="Reasoning effort"
          options={[["", "As the model does"], ...EFFORTS.map((each) => [each, each] as const)]}
          {...field("effort")}
        />
      )}
      <details open={isOpen("tools")}>
        <summary>Tools</summary>
        <TextArea
          label="Tools, as JSON"
          isCode
          rows={8}
          placeholder={TOOLS_EXAMPLE}
          hint="A list with name, description, and parameters as JSON Schema. You give their results by hand."
          {...field("tools")}
        />
      </details>
      <details open={isOpen("more")}>
        <summary>More</summary>
        <TextArea
          label="Other members of the request, as JSON"
          isCode
          rows={6}
          placeholder={MORE_EXAMPLE}
          hint="As POST /v1/svc/generate takes them: format, tool_choice, route, …"
          {...field("more")}
        />
      </details>
    </Panel>
  );
}
