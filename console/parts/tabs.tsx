/** One of a few: ranges, views. */
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
