/**
 * Requests at a process whose rows others change: what it knows of a credential may be old. A gateway alone has none of this, and
 * looks its callers up at once.
 */
import { fail, WeirError } from "../base/errors.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";

/** Rows of this process may be old: it stood still, or does not hear the others that change them. */
export interface CatchUp {
  /** No call may be admitted by what the process knows now. */
  isBehind(): boolean;
  /** Resolves true once the process has caught up, false if that takes longer than a second. */
  soon(): Promise<boolean>;
  /** Whether every change that was answered is here. Undefined: it is; otherwise this is known after a second at most. */
  current(): Promise<boolean> | undefined;
  /** After a second at most: whether the process has all that was stored before the call. However many ask, it costs a few questions a second. */
  look(): Promise<boolean>;
}

/**
 * Who makes a call. A credential that is unknown here is looked up once more when the process has caught up. Where it cannot, the
 * answer is 503: a client takes 401 for final and gives its key up, which may be a minute old; 503 it tries again.
 * @throws what `find` throws; WeirError 503 `storage_unavailable` (as a rejection)
 */
export function whoCalls<T>(catchUp: CatchUp | undefined, find: () => T): MaybePromise<T> {
  try {
    return find();
  } catch (error) {
    if (catchUp === undefined || !(error instanceof WeirError && error.isUnknown)) throw error;
    return then(catchUp.look(), find);
  }
}

/**
 * Who reads or changes rows, looked up once they are current: what was revoked elsewhere reads nothing once that was answered.
 * @throws as `whoCalls`
 */
export function whoReads<T>(catchUp: CatchUp | undefined, find: () => T): MaybePromise<T> {
  const waiting = catchUp?.current();
  return waiting === undefined ? whoCalls(catchUp, find) : then<T>(waiting, () => whoCalls(catchUp, find));
}

/** The process knows that its rows are old. */
export const outOfTouch = () =>
  fail("storage_unavailable", "This gateway does not hear the others now. Try again.", {
    retryAfterMs: 1000,
  });

/** A request may be refused for another reason before: then nobody hears of the rejection. */
function then<T>(isDone: Promise<boolean>, find: () => MaybePromise<T>): Promise<T> {
  const found = isDone.then((done) => {
    if (done) return find();
    throw outOfTouch();
  });
  found.catch(() => {});
  return found;
}
