/**
 * Keeps strings fast in a process that loads ioredis. That derives a class from `String` (`VerbatimString`), and V8 takes a prototype
 * of a new class for one that is still being set up: it keeps `String.prototype` as a table, and in optimised code each read of a
 * string's method or length becomes a call. A model call took a sixth more CPU for it. V8 ends that once properties were read a few
 * times through an object whose prototype it is, and strings are no objects.
 * Source: `JSObject::MakePrototypesFast` and `JSObject::OptimizeAsPrototype`, v8/src/objects/js-objects.cc
 */

/** Far more than V8 needs to note what a function reads. */
const READS = 1000;

/** Call it once all classes are made. */
export function keepStringsFast(): void {
  const methodOf = (text: { readonly charCodeAt: unknown }) => text.charCodeAt;
  for (let i = 0; i < READS; i++) methodOf(Object(""));
}
