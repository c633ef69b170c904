/**
 * Events that are whole answers: servers that cannot stream send one all the same. They are no events of the dialect, so the stream fails
 * by them, and the answer is read as the whole that it is.
 */
import type { UpstreamError } from "../contract.ts";

/** For readers, which have only the event's value: its JSON is filled in behind them. */
export const WHOLE_EVENT: UpstreamError = Object.freeze({
  code: "whole_event",
  type: "",
  message: "",
  whole: "",
});

/** @param json latin1 */
export const wholeIn = (json: string): UpstreamError => ({ ...WHOLE_EVENT, whole: json });
