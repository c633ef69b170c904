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

/** What an act's fault says of one field. @param pointer as `param` of the API's errors: `/limits/rpm` */
export const faultAt = (fault: ApiError | undefined, pointer: string): string | undefined =>
  fault?.param === pointer ? fault.message : undefined;
