/** Notes: what failed and what to do, what is waited for, what a word of state means. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/call.ts";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import type { Tone } from "./tone.ts";

export type { Tone };

export function Note({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="note" data-tone={tone}>
      {children}
    </div>
  );
}

/** What the API said, with the id by which the request is found in logs. Nothing where there is no fault. */
export function FaultNote({
  fault,
  onRetry,
}: {
  readonly fault: ApiError | undefined;
  readonly onRetry?: () => void;
}) {
  if (fault === undefined) return null;
  return (
    <div class="note" data-tone="bad" role="alert">
      <p class="break">{fault.message}</p>
      <div class="row">
        {fault.requestId !== "" && (
          <span class="small">
            Request <Copy text={fault.requestId} />
          </span>
        )}
        {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}

/** In the place of a part of a page that the role does not open. @param children who opens it, or what to do */
export const NotOpen = ({ children }: { readonly children: ComponentChildren }) => (
  <Note>
    <strong>Not open to your role.</strong> {children}
  </Note>
);

/** In the place of what is not there yet. */
export const Waiting = () => (
  <div class="waiting" role="status">
    <span class="only-read">Loading</span>
  </div>
);

export const Badge = ({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => (
  <span class="badge" data-tone={tone}>
    {children}
  </span>
);
