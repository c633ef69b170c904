/** Filters that are set, each with a button that takes it out. */
import type { ComponentChildren } from "preact";

export const Chips = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="chips">{children}</div>
);

interface ChipProps {
  /** What it filters by: `Model`. */
  readonly name: string;
  readonly value: string;
  readonly onRemove: () => void;
}

export const Chip = ({ name, value, onRemove }: ChipProps) => (
  <span class="chip">
    <span class="break">
      {name}: {value}
    </span>
    <button type="button" aria-label={`Remove the filter ${name}: ${value}`} onClick={onRemove}>
      ×
    </button>
  </span>
);
