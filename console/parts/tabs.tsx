/** One of a few, or some of a few: ranges, views, filters. */
import type { Option } from "./field.tsx";

interface TabsProps {
  /** What is chosen, for those who do not see it. */
  readonly label: string;
  readonly options: readonly Option[];
  readonly value: string;
  readonly onValue: (value: string) => void;
}

export function Tabs({ label, options, value, onValue }: TabsProps) {
  return (
    <fieldset class="tabs" aria-label={label}>
      {options.map(([each, text]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onValue(each)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

interface TogglesProps extends Pick<TabsProps, "label" | "options"> {
  readonly values: readonly string[];
  readonly onToggle: (value: string) => void;
}

/** Each can be switched on by itself. */
export function Toggles({ label, options, values, onToggle }: TogglesProps) {
  return (
    <fieldset class="tabs toggles" aria-label={label}>
      <span class="small quiet" aria-hidden="true">
        {label}
      </span>
      {options.map(([each, text]) => (
        <button key={each} type="button" aria-pressed={values.includes(each)} onClick={() => onToggle(each)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
