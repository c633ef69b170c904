/** Streams of a page: read as they come, while the tab is seen, and again after a rest where they break off. */
import { EventReader, type SentEvent } from "./event-reader.ts";

/**
 * Reads the events of an answer to its end.
 * @returns characters that came, comments included: none where nothing was left to be said
 * @throws what the browser says of a connection that breaks
 */
export async function readEvents(
  answer: Response,
  take: (events: readonly SentEvent[]) => void,
): Promise<number> {
  const reader = new EventReader();
  const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let length = 0;
  for (let piece = await pieces?.read(); piece?.done === false; piece = await pieces?.read()) {
    length += piece.value.length;
    const events = reader.read(piece.value);
    if (events.length > 0) take(events);
  }
  return length;
}

/** Does something whenever this tab is seen, until the signal has told it. @param read ends when its own signal has told it */
export async function whileSeen(
  over: AbortSignal,
  read: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!over.aborted) {
    await untilTab("visible", over);
    const hidden = new AbortController();
    const signal = AbortSignal.any([over, hidden.signal]);
    void untilTab("hidden", signal).then(() => hidden.abort());
    await read(signal);
    hidden.abort();
  }
}

/** Resolves once the signal has told it, or after so many milliseconds. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) return done();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** Resolves once this tab is seen, or hidden, or once the signal has told it. */
function untilTab(is: DocumentVisibilityState, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const look = () => {
      if (document.visibilityState !== is && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}
