/** What a call's answer came as, where that is another form than was asked for, and the faults of answers in no form at all. */
import type { UpstreamError } from "../../../wire/neutral/contract.ts";

/** For a warning: a whole answer instead of a stream, a stream instead of a whole answer, JSON values that no event stream frames. */
export type AnsweredAs = "whole" | "stream" | "json_values";

const fault = (code: string): UpstreamError => Object.freeze({ code, type: "", message: "" });

export const NOT_A_STREAM = fault("not_an_event_stream");
export const REPLY_TOO_LARGE = fault("reply_too_large");
export const STREAM_CUT = fault("stream_cut");
