/** Answers of operations and hooks that need more than JSON: status, headers, cookies, other media types. */

import type { Body } from "./body.ts";

export interface AnswerParts {
  /** 200 to 399. Absent: that of the operation. */
  readonly status?: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, each a header of its own. */
  readonly cookies?: readonly string[];
}

/** A file of this machine, sent as it is read. */
export interface AnswerFile {
  readonly type: string;
  readonly path: string;
}

/** A body that is made as the client reads it. */
export interface AnswerStream {
  readonly type: string;
  readonly body: Body;
  /** Called where the client leaves, also while the body waits for something: it then ends or fails soon. */
  readonly stop?: () => void;
}

/** `json`: checked by the operation's schema. None of the four: an answer without a body. */
export interface AnswerContent<T> {
  readonly json?: T;
  readonly bytes?: { readonly type: string; readonly body: string | Uint8Array };
  readonly file?: AnswerFile;
  readonly stream?: AnswerStream;
}

export class FullAnswer<T> {
  readonly parts: AnswerParts;
  readonly content: AnswerContent<T>;

  constructor(parts: AnswerParts, content: AnswerContent<T>) {
    this.parts = parts;
    this.content = content;
  }
}

/** JSON with another status, headers or cookies. */
export const answer = <T>(json: T, parts: AnswerParts): FullAnswer<T> => new FullAnswer(parts, { json });

/** @param type media type */
export const raw = (type: string, body: string | Uint8Array, parts: AnswerParts = {}): FullAnswer<never> =>
  new FullAnswer(parts, { bytes: { type, body } });

/** A download. @param name that the client saves it under: letters, digits, `_`, `-` and `.` */
export const file = (type: string, path: string, { name }: { readonly name: string }): FullAnswer<never> =>
  new FullAnswer(
    { headers: { "content-disposition": `attachment; filename="${name}"` } },
    { file: { type, path } },
  );

/** A download that is made as the client reads it. @param name as for {@link file} */
export const download = (
  stream: AnswerStream,
  { name, headers = {} }: { readonly name: string; readonly headers?: Readonly<Record<string, string>> },
): FullAnswer<never> =>
  new FullAnswer(
    { headers: { ...headers, "content-disposition": `attachment; filename="${name}"` } },
    { stream },
  );

/** @param parts status 303 by default: the next request is a GET */
export const redirect = (location: string, parts: AnswerParts = {}): FullAnswer<never> =>
  new FullAnswer({ status: 303, ...parts, headers: { ...parts.headers, location } }, {});
