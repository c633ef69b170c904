/** For what is known at once as a rule, and must be waited for sometimes: the usual case costs no turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>;

/** `next` of the value: now where it is there, once it comes where it is promised. */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
