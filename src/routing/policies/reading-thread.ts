/**
 * Reads long policy documents in a worker thread: YAML takes about a millisecond per kilobyte, which no call may wait
 * for (T54). Input and result are plain values, which can be cloned between threads.
 */
import { type PolicyReading, type ReadingOptions, readPolicy } from "../language/policy-reading.ts";

export interface ReadingTask {
  readonly text: string;
  readonly options: ReadingOptions;
}

export const readInThread = ({ text, options }: ReadingTask): PolicyReading => readPolicy(text, options);
