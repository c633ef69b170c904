/** Which rules cut what out of requests and answers before they are kept: presets, and the org's own patterns. */
import { Button } from "../../parts/button.tsx";
import { Check, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import type { DataValues, Preset } from "./data-values.ts";
import { PRESETS } from "./data-words.ts";

const MOST_PATTERNS = 20;

interface RedactionProps {
  readonly presets: readonly string[];
  readonly patterns: readonly string[];
  /** By the place of the pattern. */
  readonly faults: Readonly<Record<number, string>>;
  /** Undefined: they are shown and cannot be changed. */
  readonly onChange?: (next: Partial<Pick<DataValues, "presets" | "patterns">>) => void;
}

export function Redaction({ presets, patterns, faults, onChange }: RedactionProps) {
  return (
    <Panel title="What is cut out before it is kept">
      <p class="quiet">
        The call itself is not changed: the model gets the whole text. What is kept has a mark in the place of
        each find.
      </p>
      {onChange === undefined ? (
        <Rules presets={presets} patterns={patterns} />
      ) : (
        <>
          <fieldset class="scopes">
            <legend>Found by the gateway itself</legend>
            {(Object.keys(PRESETS) as Preset[]).map((preset) => (
              <div key={preset}>
                <Check
                  label={PRESETS[preset][0]}
                  value={presets.includes(preset)}
                  onValue={(isOn) =>
                    onChange({
                      presets: isOn ? [...presets, preset] : presets.filter((each) => each !== preset),
                    })
                  }
                />
                <p class="small quiet preset-about">{PRESETS[preset][1]}</p>
              </div>
            ))}
          </fieldset>
          <Patterns patterns={patterns} faults={faults} onPatterns={(next) => onChange({ patterns: next })} />
        </>
      )}
    </Panel>
  );
}

const Rules = ({ presets, patterns }: Pick<RedactionProps, "presets" | "patterns">) => (
  <ul class="rules">
    {presets.map((preset) => (
      <li key={preset}>
        {PRESETS[preset as Preset]?.[0] ?? preset}{" "}
        <span class="small quiet">{PRESETS[preset as Preset]?.[1]}</span>
      </li>
    ))}
    {patterns.map((pattern) => (
      <li key={pattern}>
        Own pattern <code class="break">{pattern}</code>
      </li>
    ))}
    {presets.length + patterns.length === 0 && <li>Nothing</li>}
  </ul>
);

interface PatternsProps extends Pick<RedactionProps, "patterns" | "faults"> {
  readonly onPatterns: (next: readonly string[]) => void;
}

function Patterns({ patterns, faults, onPatterns }: PatternsProps) {
  return (
    <div class="stack">
      <p class="small quiet">
        Own patterns are regular expressions without look-around and back-references (RE2), such as{" "}
        <code>EMP-[0-9]{"{6}"}</code>
      </p>
      {patterns.map((pattern, at) => (
        <div key={at} class="pattern">
          <TextField
            label={`Pattern ${at + 1}`}
            value={pattern}
            onValue={(text) => onPatterns(patterns.map((each, place) => (place === at ? text : each)))}
            fault={faults[at]}
            maxLength={500}
          />
          <Button
            aria-label={`Remove pattern ${at + 1}`}
            onClick={() => onPatterns(patterns.filter((_, place) => place !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      {patterns.length < MOST_PATTERNS && (
        <div class="row">
          <Button onClick={() => onPatterns([...patterns, ""])}>Add a pattern</Button>
        </div>
      )}
    </div>
  );
}
