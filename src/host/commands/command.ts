/** The type of a command, a row of `commands.ts`, and what it runs in. */

interface Option {
  /** A switch, or an option that takes a value. */
  readonly type: "boolean" | "string";
  /** Name of the value in the help: `DIR`. */
  readonly value?: string;
  readonly summary: string;
}

/** Options and operand given after a command's name, validated against its row. */
export interface Given {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** The argument that is not an option; undefined where none was given or the command takes none. */
  readonly operand: string | undefined;
}

/** Where a command reads its settings and writes its output: the process's own, or a test's. */
export interface Shell {
  readonly env: NodeJS.ProcessEnv;
  /** Standard output is a terminal: a secret may be shown there. */
  readonly isTerminal: boolean;
  /** Writes to standard output. */
  out(text: string): unknown;
  /** Writes to standard error. */
  err(text: string): unknown;
  /** Told by a command that goes on for long when it has loaded all that it needs to work. */
  hasLoaded?(): void;
}

export interface Command {
  /** The words to type; may end with an option: `check --data`. */
  readonly name: string;
  readonly summary: string;
  /** Name of the operand, such as `DIR`, if the command takes one. */
  readonly operand?: string;
  /** Long names, without dashes. */
  readonly options: Readonly<Record<string, Option>>;
  /** Resolves with the exit code. If it throws, the message is printed and the exit code is 1. */
  run(given: Given, shell: Shell): Promise<number>;
}
