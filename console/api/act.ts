/** Acts of a page: one at a time, with why the last one failed. What a list shows is asked for again by whoever acts. */
import { useRef, useState } from "preact/hooks";
import { ApiError } from "./call.ts";

export interface Act {
  readonly isBusy: boolean;
  /** Why the last act failed; undefined where it did not. */
  readonly fault: ApiError | undefined;
  /** Runs an act, unless another is under way. Never throws. */
  run(act: () => Promise<void>): void;
  /** Says nothing of the last act any more. */
  forget(): void;
}

export function useAct(): Act {
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = (act: () => Promise<void>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setFault(undefined);
    act()
      .catch((error: unknown) =>
        setFault(
          error instanceof ApiError ? error : new ApiError(0, { message: String(error), code: "page" }, ""),
        ),
      )
      .finally(() => {
        isRunning.current = false;
        setBusy(false);
      });
  };
  return { isBusy, fault, run, forget: () => setFault(undefined) };
}

/** What an act's fault says of one field, without the field's name before it. @param pointer as `param` of the API's errors: `/limits/rpm` */
export function faultAt(fault: ApiError | undefined, pointer: string): string | undefined {
  if (fault?.param !== pointer) return undefined;
  const named = `${pointer}: `;
  const text = fault.message.startsWith(named) ? fault.message.slice(named.length) : fault.message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
