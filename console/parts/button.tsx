/** Buttons. A destructive one names what it does: "Revoke key", never "OK". */
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

export type ButtonKind = "plain" | "main" | "danger" | "quiet";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "type" | "disabled" | "children"> {
  readonly kind?: ButtonKind;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  /** What it asked for is not answered yet. */
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
}

export function Button({ kind = "plain", type = "button", isBusy, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      class="button"
      data-kind={kind}
      disabled={disabled === true || isBusy === true}
      aria-busy={isBusy === true}
      {...rest}
    />
  );
}
