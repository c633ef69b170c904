/**
 * What upstreams accept of names, by dialect and provider, as data. Each bound has its source beside it: documentation, or the
 * error that an upstream answers with.
 */
import type { Dialect } from "../../base/endpoint.ts";

/** Texts that are taken: those that match, which includes their length in UTF-16 units. */
export interface NameBound {
  readonly taken: RegExp;
  readonly most: number;
  /** A character that may stand nowhere in it. */
  readonly foreign: RegExp;
}

/** What an upstream accepts. An absent bound: it takes anything, or nothing is known. */
export interface Accepted {
  readonly toolName?: NameBound;
}

const WORDS = /[^a-zA-Z0-9_-]/g;

const words = (most: number): NameBound => ({
  taken: new RegExp(`^[a-zA-Z0-9_-]{1,${most}}$`),
  most,
  foreign: WORDS,
});

const BY_DIALECT: Partial<Readonly<Record<Dialect, Accepted>>> = {
  chat: {
    // OpenAI API reference, FunctionObject.name: "a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64".
    toolName: words(64),
  },
  responses: {
    // "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", and
    // "string too long. Expected a string with maximum length 64".
    toolName: words(64),
  },
  messages: {
    // "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'".
    toolName: words(128),
  },
  gemini: {
    // "Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots
    // (.), colons (:), or dashes (-), with a maximum length of 64."
    toolName: { taken: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, most: 64, foreign: /[^a-zA-Z0-9_.:-]/g },
  },
  converse: {
    // Amazon Bedrock API reference, ToolSpecification.name: 1 to 64 of [a-zA-Z0-9_-]+.
    toolName: words(64),
  },
};

const ANYTHING: Accepted = {};

export const acceptedBy = (dialect: Dialect): Accepted => BY_DIALECT[dialect] ?? ANYTHING;
