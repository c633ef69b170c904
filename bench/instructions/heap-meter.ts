/** What a window of calls allocates in V8's heap, and where: by the process that makes the calls. */
import { Session } from "node:inspector";
import { getHeapStatistics } from "node:v8";

/** Bytes of a whole window; exact as long as nothing is collected in it. */
export interface HeapFigures {
  /** In V8's heap. */
  readonly heapBytes: number;
  /** Bytes of ArrayBuffers, whose memory is outside of the heap. */
  readonly bufferBytes: number;
}

/** A function as V8 names it. */
export interface HeapFrame {
  readonly name: string;
  /** Address of the script. Empty for V8's own functions. */
  readonly url: string;
  /** At which it begins, from 1. */
  readonly line: number;
}

/** What was allocated in one function that was called in one way. */
export interface HeapPlace {
  /** The innermost function first. */
  readonly frames: readonly HeapFrame[];
  /** What is allocated together by optimised code is one object. */
  readonly objects: number;
  readonly bytes: number;
}

export class HeapMeter {
  readonly #buffers = process.memoryUsage().arrayBuffers;
  // Last, so that what the line above allocates is not counted.
  readonly #heap = getHeapStatistics().used_heap_size;

  end(): HeapFigures {
    const heapBytes = getHeapStatistics().used_heap_size - this.#heap;
    return { heapBytes, bufferBytes: process.memoryUsage().arrayBuffers - this.#buffers };
  }
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children: readonly ProfileNode[];
}

interface Sample {
  readonly size: number;
  readonly nodeId: number;
  /** Samples were taken in the order of these. */
  readonly ordinal: number;
}

interface Profile {
  readonly head: ProfileNode;
  readonly samples: readonly Sample[];
}

/** So small an interval, in bytes, that each object is a sample. */
const EACH_OBJECT = 1;
/** Deep enough to arrive at a function of a known step. */
const MOST_FRAMES = 24;
/** Elements of an array that is a mark among the samples. Nothing else of a call has its size. */
const MARK_ELEMENTS = 30_011;
const MARK_BYTES = 8 * MARK_ELEMENTS;

/** Notes each object that is allocated, and where. One profile has all windows: to end one collects all garbage, and V8 drops optimised code then. */
export class ObjectMeter {
  readonly #session = new Session();
  readonly #marks: unknown[] = [];

  constructor() {
    this.#session.connect();
    this.#ask("HeapProfiler.startSampling", {
      samplingInterval: EACH_OBJECT,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
  }

  /** A window begins, or ends. */
  mark(): void {
    this.#marks.push(new Array(MARK_ELEMENTS));
  }

  /** @returns the places of each window */
  end(): HeapPlace[][] {
    const { profile } = this.#ask("HeapProfiler.stopSampling", {}) as { readonly profile: Profile };
    this.#session.disconnect();
    return placesOfWindows(profile, MARK_BYTES);
  }

  /** Answers at once: the inspector is in this thread. */
  #ask(method: string, params: object): unknown {
    let answer: unknown;
    let fault: Error | null = null;
    this.#session.post(method, params, (error, result) => {
      fault = error;
      answer = result;
    });
    if (fault !== null) throw fault;
    return answer;
  }
}

/** @param markBytes a sample of at least that size begins or ends a window, in turn */
export function placesOfWindows({ head, samples }: Profile, markBytes: number): HeapPlace[][] {
  const framesOf = new Map<number, readonly HeapFrame[]>();
  const visit = ({ id, callFrame, children }: ProfileNode, callers: readonly HeapFrame[]): void => {
    const { functionName: name, url, lineNumber } = callFrame;
    const frames = [{ name, url, line: lineNumber + 1 }, ...callers].slice(0, MOST_FRAMES);
    framesOf.set(id, frames);
    for (const child of children) visit(child, frames);
  };
  visit(head, []);
  const windows: Map<number, { objects: number; bytes: number }>[] = [];
  let isWithin = false;
  for (const { size, nodeId } of samples.toSorted((a, b) => a.ordinal - b.ordinal)) {
    if (size >= markBytes && size < markBytes + 100) {
      isWithin = !isWithin;
      if (isWithin) windows.push(new Map());
    } else if (isWithin) {
      const sums = windows.at(-1)?.get(nodeId) ?? { objects: 0, bytes: 0 };
      sums.objects += 1;
      sums.bytes += size;
      windows.at(-1)?.set(nodeId, sums);
    }
  }
  return windows.map((window) =>
    [...window].map(([nodeId, sums]) => ({ frames: framesOf.get(nodeId) ?? [], ...sums })),
  );
}
