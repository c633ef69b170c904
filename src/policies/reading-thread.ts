/**
 * Reading long policy documents in a worker thread: YAML takes about a millisecond a kilobyte, which no call shall wait for
 * (T54). Result and input are plain values: they cross from one thread to the other.
 */
import { type PolicyReading, type ReadingOptions, readPolicy } from "../routing/policy-reading.ts";

export interface ReadingTask {
  readonly text: string;
  readonly options: ReadingOptions;
}

export const readInThread = ({ text, options }: ReadingTask): PolicyReading => readPolicy(text, options);
