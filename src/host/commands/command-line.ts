/**
 * The command line: finds the command, checks its options and runs it. For an unknown word it suggests the nearest
 * known one.
 */
import { parseArgs } from "node:util";
import { didYouMean, nearest } from "../../base/document/nearest.ts";
import { fileErrorText } from "../../base/file-errors.ts";
import { VERSION } from "../gateway/version.ts";
import { VARIABLES } from "../settings/environment.ts";
import type { Command, Given, Shell } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** The command threw. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The words match no command, or contain options that it does not take. */
class UsageError extends Error {}

/** @param words the arguments after the program's name. @returns the exit code. */
export async function runCommandLine(
  words: readonly string[],
  shell: Shell,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  try {
    const asked = words.find((word) => GLOBAL[word] !== undefined);
    if (asked !== undefined) {
      const others = words.filter((word) => word !== asked);
      // Looked up before printing help, so that an unknown command with `--help` is refused too.
      const command = others.length === 0 ? undefined : commandOf(others, commands).command;
      shell.out(GLOBAL[asked] === "version" ? `${VERSION}\n` : helpOf(command, commands));
      return 0;
    }
    const { command, rest } = commandOf(words, commands);
    return await command.run(given(command, rest), shell);
  } catch (error) {
    shell.err(`${fileErrorText(error) ?? (error instanceof Error ? error.message : String(error))}\n`);
    if (error instanceof UsageError) return EXIT_USAGE;
    if (shell.env.LOG_LEVEL === "debug" && error instanceof Error) shell.err(`${error.stack}\n`);
    return EXIT_FAILED;
  }
}

const GLOBAL: Readonly<Record<string, "help" | "version">> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
};

/** The command whose name matches the most leading words; the first in the table if none does. */
function commandOf(
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const split = words.flatMap((word) => /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1, 3) ?? [word]);
  const isNamed = ({ name }: Command) => name.split(" ").every((word, i) => split[i] === word);
  const [named] = commands.filter(isNamed).sort((a, b) => b.name.length - a.name.length);
  if (named !== undefined) return { command: named, rest: split.slice(named.name.split(" ").length) };
  const [first = ""] = split;
  const [standard] = commands;
  if (standard !== undefined && (first === "" || first.startsWith("-")))
    return { command: standard, rest: split };
  const typed = split.slice(0, 2).join(" ");
  const names = commands.map(({ name }) => name);
  const near =
    nearest(typed, names) ?? nearest(first, names) ?? names.find((name) => name.startsWith(`${first} `));
  throw new UsageError(`there is no command "${first}"${didYouMean(near)}\nweir --help lists them`);
}

/** @throws UsageError that names the first word the command does not accept. */
function given({ name, options, operand }: Command, words: readonly string[]): Given {
  const { tokens } = parseArgs({ args: [...words], options, strict: false, tokens: true });
  const values: Record<string, string | boolean> = {};
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw new UsageError(unknownOption(name, token.rawName, Object.keys(options)));
    if (token.name in values) throw new UsageError(`${token.rawName} is given twice`);
    if (option.type === "string" && (token.value ?? "") === "")
      throw new UsageError(`${token.rawName} needs a value`);
    if (option.type === "boolean" && token.value !== undefined)
      throw new UsageError(`${token.rawName} takes no value`);
    values[token.name] = token.value ?? true;
  }
  const tooMany = operands[operand === undefined ? 0 : 1];
  if (tooMany !== undefined)
    throw new UsageError(`weir ${name} does not take "${tooMany}"\nweir --help lists what it takes`);
  return { options: values, operand: operands[0] };
}

function unknownOption(command: string, option: string, known: readonly string[]): string {
  const variable = option.slice(2).replaceAll("-", "_").toUpperCase();
  const words = [...known.map((other) => `--${other}`), ...Object.keys(GLOBAL)];
  // Suggestions are useless for one-letter options.
  const near = option.startsWith("--") ? nearest(option, words) : undefined;
  const hint = VARIABLES.includes(variable) ? `; set the environment variable ${variable}` : didYouMean(near);
  return `weir ${command} does not take ${option}${hint}\nweir --help lists what it takes`;
}

/** The help of one command, or of all. */
function helpOf(command: Command | undefined, commands: readonly Command[]): string {
  const shown = command === undefined ? commands : [command];
  const lines = shown.flatMap(({ name, summary, options, operand }) => [
    row(`weir ${name}${operand === undefined ? "" : ` [${operand}]`}`, summary),
    ...Object.entries(options).map(([option, { value, summary: meaning }]) =>
      row(`    --${option}${value === undefined ? "" : ` ${value}`}`, meaning),
    ),
  ]);
  if (command !== undefined) return `${lines.join("\n")}\n`;
  return [
    `Weir ${VERSION}, a gateway in front of AI model providers.`,
    "",
    ...lines,
    row("weir --help, --version", ""),
    "",
    "Settings are environment variables (PORT, HOST, DATA_DIR, CONFIG_DIR, …) and weir.yaml: README.md lists them.",
    "Exit codes: 0 done, 1 failed, 2 not understood, 130 ended by a second signal.",
    "",
  ].join("\n");
}

const row = (left: string, right: string): string => `  ${left.padEnd(26)} ${right}`.trimEnd();
