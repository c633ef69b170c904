/** One of a few, or some of a few: ranges, views, filters. */
import type { Option } from "./field.tsx";
import { Link } from "./link.tsx";

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

interface PathTabsProps {
  /** What they lead to, for those who do not see them. */
  readonly label: string;
  /** The page and what follows it, and the text. */
  readonly tabs: readonly (readonly [to: readonly string[], text: string])[];
  /** The page and what follows it of the address. */
  readonly current: readonly string[];
}

/** Parts of a page that have an address each. */
export function PathTabs({ label, tabs, current }: PathTabsProps) {
  const here = current.join("/");
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([to, text]) => (
        <Link key={to.join("/")} to={to} current={to.join("/") === here}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
