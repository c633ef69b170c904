/**
 * For values that are usually available at once and sometimes awaited: the usual case costs no turn of the event loop.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: now if it is available, else once its promise resolves. */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
