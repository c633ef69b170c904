/** Errors in streams whose data are no JSON object. */
import { utf8Of } from "../../json/json.ts";
import type { UpstreamError } from "../contract.ts";
import { readErrorValue, soleOf } from "../upstream-error.ts";
import { isErrorObject } from "./bare-error.ts";
import { valueOfText } from "./body.ts";
import { jsonOf } from "./literal.ts";

/** Characters that are looked at. */
const LIMIT = 64 * 1024;
/** Servers that put the error's text behind a word (lucasjinreal/Crane#121). */
const WORD = /^\[?error\b[\]:]/i;
/** An error that is cut off, or larger than what is looked at. */
const CUT = /^\{\s{0,4}"(?:error"|type"\s{0,4}:\s{0,4}"error")/;

/**
 * The error that an event says; undefined where it says none, and can only be skipped.
 * @param data latin1, no JSON object @param name of the event; an `error` is one whatever it says (octos-org/octos#13)
 */
export function errorOfData(data: string, name: string): UpstreamError | undefined {
  const text = utf8Of(data.slice(0, LIMIT)).trim();
  if (text === "") return undefined;
  const value = soleOf(jsonOf(text));
  if (isErrorObject(value)) return readErrorValue(value);
  // An event that broke off within another one (Wei-Shaw/sub2api#1471).
  const last = jsonOf(text.slice(text.lastIndexOf("\n") + 1));
  if (isErrorObject(last)) return readErrorValue(last);
  const isNamed = name === "error" || WORD.test(text);
  if (!isNamed && !CUT.test(text)) return undefined;
  return readErrorValue(value === undefined ? valueOfText(text) : value);
}
