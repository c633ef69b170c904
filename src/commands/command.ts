/** What a command of the command line is: a row of `commands.ts`. */

interface Option {
  /** A switch, or an option that takes a value. */
  readonly type: "boolean" | "string";
  /** Name of the value in the help: `DIR`. */
  readonly value?: string;
  readonly summary: string;
}

/** Options and operand that were typed after a command's name, checked against its row. */
export interface Given {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** The one word that is no option; undefined where none was given or the row takes none. */
  readonly operand: string | undefined;
}

export interface Command {
  /** As it is typed; several words where it needs them, also an option as its last word: `check --data`. */
  readonly name: string;
  readonly summary: string;
  /** Name of the one word that it may take beside options, such as `DIR`. */
  readonly operand?: string;
  /** Long names, without dashes. */
  readonly options: Readonly<Record<string, Option>>;
  /** Resolves with the exit code. Where it throws, the message is printed and the exit code is 1. */
  run(given: Given): Promise<number>;
}
