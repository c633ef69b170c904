/** Fields of forms: a label, the control, what it means, and what is wrong with it. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What is wrong; empty or undefined: nothing. */
  readonly fault?: string | undefined;
}

interface Control {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
}

function Labelled({
  label,
  hint,
  fault,
  children,
}: FieldProps & { readonly children: (control: Control) => ComponentChildren }) {
  const id = useId();
  const isFaulty = fault !== undefined && fault !== "";
  const about = isFaulty ? `${id}-fault` : hint !== undefined ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": about, "aria-invalid": isFaulty })}
      {isFaulty ? (
        <span class="field-fault" id={`${id}-fault`}>
          {fault}
        </span>
      ) : (
        hint !== undefined && (
          <span class="small quiet" id={`${id}-hint`}>
            {hint}
          </span>
        )
      )}
    </div>
  );
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "search" | "number" | "date" | "password";
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly inputMode?: "numeric" | "decimal" | "text";
}

export function TextField({ label, hint, fault, onValue, type = "text", ...rest }: TextProps) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(control) => (
        <input
          class="input"
          // The types of a browser's inputs are a union that no single variable fits.
          type={type as "text"}
          autocomplete="off"
          {...control}
          {...rest}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

interface AreaProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly isCode?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

export function TextArea({ label, hint, fault, onValue, isCode, ...rest }: AreaProps) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(control) => (
        <textarea
          class={isCode === true ? "input code" : "input"}
          spellcheck={isCode !== true}
          {...control}
          {...rest}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

/** A choice of the value and the text of each option. */
export type Option = readonly [value: string, text: string];

interface ChoiceProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly options: readonly Option[];
}

export function Choice({ label, hint, fault, value, onValue, options }: ChoiceProps) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(control) => (
        <select
          class="input"
          {...control}
          value={value}
          onChange={(event) => onValue(event.currentTarget.value)}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface CheckProps {
  readonly label: string;
  readonly value: boolean;
  readonly onValue: (value: boolean) => void;
}

export function Check({ label, value, onValue }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onValue(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
