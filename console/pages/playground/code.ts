/**
 * A call of the playground as a program: curl, Python, TypeScript, by chat completions. What people typed is data in each of them and
 * nothing else: JSON behind a quoted here-document, or literals of the language. Pure.
 */
import { chatForm } from "./chat-form.ts";
import { type Fields, isFields } from "./message.ts";
import type { Body } from "./request.ts";

export const LANGUAGES = [
  ["curl", "curl"],
  ["python", "Python"],
  ["typescript", "TypeScript"],
] as const;
export type Language = (typeof LANGUAGES)[number][0];

/** A picture beyond this is named and not written out, characters of base64. */
const MOST_DATA = 2000;
const DATA = /^(data:[\w./+-]*;base64,)([A-Za-z0-9+/=]*)$/;

/** @param origin where the gateway is reached, without a slash at the end @returns the program's text */
export function codeOf(language: Language, origin: string, native: Body): string {
  const form = chatForm(native);
  const names: string[] = [];
  const body = shortened(form.body, names) as Fields;
  const notes = [
    ...form.leftOut.map((what) => `Left out, for chat completions has no place for it: ${oneLine(what)}`),
    ...names.map((name) => `Put the base64 text of the picture where ${name} stands.`),
  ];
  return WRITERS[language](origin, { ...body, stream: true }, notes);
}

type Writer = (origin: string, body: Fields, notes: readonly string[]) => string;

const WRITERS: Readonly<Record<Language, Writer>> = { curl, python, typescript };

/** Comments end with their line: what is said in them must not begin another. */
const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]/g, " ").slice(0, 200);

function curl(origin: string, body: Fields, notes: readonly string[]): string {
  return [
    ...notes.map((note) => `# ${note}`),
    `curl --no-buffer ${quoted(`${origin}/v1/chat/completions`)} \\`,
    '  -H "Authorization: Bearer $WEIR_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    // No line of the JSON is the word alone: each begins with white space, a bracket, or a quote.
    "  --data-binary @- <<'WEIR_BODY'",
    JSON.stringify(body, null, 2),
    "WEIR_BODY",
  ].join("\n");
}

/** In a shell's single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function python(origin: string, body: Fields, notes: readonly string[]): string {
  const { svc, ...known } = body;
  const given = { ...known, ...(svc !== undefined && { extra_body: { svc } }) };
  return [
    "import os",
    "",
    "from openai import OpenAI",
    "",
    ...notes.map((note) => `# ${note}`),
    `client = OpenAI(base_url=${JSON.stringify(`${origin}/v1`)}, api_key=os.environ["WEIR_API_KEY"])`,
    "stream = client.chat.completions.create(",
    ...Object.entries(given).map(([name, value]) => `    ${name}=${pythonText(value, "    ")},`),
    ")",
    "for chunk in stream:",
    "    if chunk.choices:",
    '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
    "print()",
  ].join("\n");
}

function pythonText(value: unknown, indent: string): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  // JSON's escapes are Python's, too.
  return layered(value, indent, "    ", JSON.stringify, pythonText);
}

function typescript(origin: string, body: Fields, notes: readonly string[]): string {
  const { svc, ...known } = body;
  return [
    'import OpenAI from "openai";',
    "",
    ...notes.map((note) => `// ${note}`),
    `const client = new OpenAI({ baseURL: ${JSON.stringify(`${origin}/v1`)}, apiKey: process.env.WEIR_API_KEY });`,
    "const stream = await client.chat.completions.create({",
    ...Object.entries(known).map(([name, value]) => `  ${name}: ${scriptText(value, "  ")},`),
    ...(svc === undefined
      ? []
      : ["  // @ts-expect-error: an option of the gateway's own", `  svc: ${scriptText(svc, "  ")},`]),
    "});",
    'for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");',
    'process.stdout.write("\\n");',
  ].join("\n");
}

const scriptText = (value: unknown, indent: string): string =>
  layered(value, indent, "  ", nameText, scriptText);

/** `"__proto__": …` would set the prototype of the object. */
function nameText(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

/** Lists and objects, a member a line. */
function layered(
  value: unknown,
  indent: string,
  step: string,
  nameOf: (name: string) => string,
  inner: (value: unknown, indent: string) => string,
): string {
  const deeper = indent + step;
  const block = (open: string, lines: readonly string[], close: string) =>
    lines.length === 0
      ? `${open}${close}`
      : `${open}\n${lines.map((line) => `${deeper}${line},`).join("\n")}\n${indent}${close}`;
  if (Array.isArray(value)) {
    return block(
      "[",
      value.map((each) => inner(each, deeper)),
      "]",
    );
  }
  if (!isFields(value)) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return block(
    "{",
    members.map(([name, each]) => `${nameOf(name)}: ${inner(each, deeper)}`),
    "}",
  );
}

/** The value with large pictures named. @param names those that were named, in their order */
function shortened(value: unknown, names: string[]): unknown {
  if (typeof value === "string") {
    const [, head, data = ""] = DATA.exec(value) ?? [];
    if (head === undefined || data.length <= MOST_DATA) return value;
    names.push(`PICTURE_${names.length + 1}`);
    return `${head}${names.at(-1)}`;
  }
  if (Array.isArray(value)) return value.map((each) => shortened(each, names));
  if (!isFields(value)) return value;
  // An own member of any name, "__proto__" too.
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each, names)]));
}
