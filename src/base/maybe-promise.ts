/**
 * For values that are usually available at once and sometimes awaited: the usual case costs no turn of the event loop.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: now if it is available, else once its promise resolves. */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * The same for what each call does: `next` is one function for all calls, and is given what it needs. A function that is made where it is
 * called takes memory also where nothing is waited for, and so does all that it refers to.
 */
export function afterWith<T, A, B, R>(
  value: MaybePromise<T>,
  next: (value: T, a: A, b: B) => MaybePromise<R>,
  a: A,
  b: B,
): MaybePromise<R> {
  return value instanceof Promise ? later(value, next, a, b) : next(value, a, b);
}

const later = <T, A, B, R>(
  value: Promise<T>,
  next: (value: T, a: A, b: B) => MaybePromise<R>,
  a: A,
  b: B,
): Promise<R> => value.then((known) => next(known, a, b));
