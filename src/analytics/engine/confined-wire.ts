/** What the engine's process and the analysts' process say to each other: HTTP on a socket file in the folder of the latter. */
import type { AnalystStatement } from "./analyst-run.ts";

/** In the working folder of the analysts' process. */
export const SOCKET = "analysts.sock";
/** Line on its standard output once it takes statements. */
export const READY = "ready";
/** Header of an answer: ClickHouse's name of its format. */
export const FORMAT_HEADER = "x-format";

/** A statement: the JSON document of a request. */
export interface WireStatement extends Omit<AnalystStatement, "settings"> {
  readonly settings: readonly (readonly [string, string])[];
}

/** The JSON document of an answer with status 400: the statement was refused, or failed before its first row. */
export interface WireError {
  readonly code: number;
  readonly message: string;
}
